/** Programs of which we know what becomes of their words: they are no commands, and no code. */
import { byName, named } from '../parse/by-name.ts'
import { wrapperOf } from '../parse/wrappers.ts'
import { isReadOnlyProgram } from './read-only.ts'

/** A program that only prints its words. */
export const says = named(/^(echo|printf|true|false|:|test|\[)$/)

/** What they run by options and verbs is looked at elsewhere. */
const known =
  /^(git|npm|pnpm|yarn|bun|deno|node|tsc|eslint|biome|prettier|jest|vitest|mocha|pytest|tox|ruff|black|mypy|pip3?|go|cargo|rustc|rustfmt|gcc|g\+\+|clang|cmake|make|gmake|ninja|mvn|gradle|gradlew|dotnet|javac?|python[\d.]*|ruby|gem|rake|perl|php|composer|swift|docker|podman|kubectl|helm|terraform|aws|gcloud|gh|glab|curl|wget|ssh|scp|rsync|tar|zip|unzip|gzip|gunzip|cp|mv|rm|rmdir|mkdir|touch|ln|chmod|chown|pushd|popd|export|unset|read|local|declare|set|kill|pkill|killall|brew|apt|apt-get|systemctl|journalctl|vim?|nano|code|open|man|less|more|sqlite3|psql|mysql|redis-cli|yq|[gm]?awk|tee|xargs|patch|dd|install|truncate|shred|openssl|gpg)$/

export const isKnown = byName((name): boolean => known.test(name) || says(name) || isReadOnlyProgram(name))

/** Neither known nor one that runs other commands: what its words do is anybody's guess. */
export const isStrange = byName((name): boolean => !isKnown(name) && wrapperOf(name) === undefined)
