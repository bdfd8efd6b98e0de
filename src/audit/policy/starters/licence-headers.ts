import { hookProgram } from './program.ts'
import { type Starter, write } from './starter.ts'

const script = String.raw`
// Denies a Write of a source file without a licence header in its first lines, and an Edit that removes one.
const sources = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kts?|swift|c|cc|cpp|h|hpp|cs|rb|php|scala|vue|svelte)$/i
const header = /SPDX-License-Identifier:\s*\S/

export default function check({ tool_name: tool, tool_input: input = {} }) {
  if (!sources.test(String(input.file_path ?? ''))) return
  if (tool === 'Write' && !header.test(String(input.content ?? '').split('\n', 10).join('\n')))
    return 'begin the file with a line such as: // SPDX-License-Identifier: MIT'
  for (const { old_string: before = '', new_string: after = '' } of input.edits ?? [input])
    if (header.test(before) && !header.test(after)) return 'keep the licence header of the file'
}
`

export const licenceHeaders: Starter = {
  id: 'licence-headers',
  about: 'a source file begins with a licence header',
  limits: 'Files that a command writes (`cat > a.ts`): check them in CI as well.',
  words: ['licence', 'license', 'header', 'headers', 'copyright', 'spdx'],
  hook: { event: 'PreToolUse', matcher: 'Write|Edit|MultiEdit', script: hookProgram(script) },
  files: { 'src/c.ts': '// SPDX-License-Identifier: MIT\nexport const c = 1\n' },
  refuses: [
    write('src/a.ts', 'export const a = 1'),
    write('src/a.PY', 'print("SPDX")'),
    write('src/late.ts', `${'// a line\n'.repeat(30)}// SPDX-License-Identifier: MIT`),
    {
      call: 'Edit',
      input: { file_path: 'src/c.ts', old_string: '// SPDX-License-Identifier: MIT\n', new_string: '' },
    },
  ],
  allows: [write('src/b.ts', '// SPDX-License-Identifier: MIT\nexport const b = 1'), write('notes.txt')],
}
