/** Programs that print their version, and only that, for one word. For others the same word is a file, a target or a script. */
import { named } from '../parse/by-name.ts'

const programs = new Map([
  [
    '--version',
    named(
      /^(node|npm|npx|pnpm|yarn|bun|deno|tsc|python3?|pip3?|uv|poetry|ruby|gem|bundle|go|cargo|rustc|rustup|java|javac|mvn|gradle|gcc|g\+\+|clang|make|cmake|docker|podman|kubectl|helm|terraform|git|gh|bash|zsh|php|composer|perl|dotnet|swift|kotlin|sqlite3|psql|mysql|curl|wget|jq|rg|fd|code|vim|nvim|tmux|ssh)$/,
    ),
  ],
  ['version', named(/^(npm|uv|poetry|bundle|go|cargo|docker|podman|kubectl|helm|terraform|git|gh)$/)],
  ['-v', named(/^(node|npm|pnpm|yarn|tsc|ruby|php|perl|gcc|clang|ssh)$/)],
  ['-V', named(/^(python3?|perl|tmux|ssh)$/)],
  ['-version', named(/^(java|javac|swift|kotlin)$/)],
])

export const printsVersion = (name: string, word: string): boolean => programs.get(word)?.(name) ?? false
