/** Whether docs/ACCEPTANCE_MATRIX.md is what the rows say, covers what appendix F.2 lists, and leaves nothing to judgement. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const page = join(root, 'docs/ACCEPTANCE_MATRIX.md')
const words = (text: string) => text.trim().split(/\s+/)

/** Appendix F.2, item by item: the ids that must be there. */
const required: Record<string, readonly string[]> = {
  '1: every item of §10': Array.from({ length: 27 }, (_, at) => `10.${at + 1}`),
  '2: every built-in tool of §7': words(
    `Read Write Edit NotebookEdit Bash Glob Grep WebFetch WebSearch AskUserQuestion TodoWrite TaskOutput Agent Skill
     EnterPlanMode ExitPlanMode ListMcpResources ReadMcpResource ToolSearch Brief TaskStop`,
  ).map((name) => `T-${name}`),
  '3: every provider of §2.1': words('claude_code_subscription openai_compatible lm_studio_local').map(
    (id) => `P-${id}`,
  ),
  '4: every minimum command of §2.9': words('help model login logout status config settings clear reset').map(
    (name) => `C-${name}`,
  ),
  '5: every capability of §2.7': words('A1 A2 A3 A4 A5 A6 A7 O1 L1'),
  '6: every forbidden of §0 and §2.8': words('F0-1 F0-2 F0-3 F0-4 F0-5 F0-6 F2.8-1 F2.8-2 F2.8-3 F2.8-4'),
  '7: the five proofs of §8.5–8.7': words('B-isolation B-anti-mock B-traceability B-gate B-no-bypass'),
}
/** Every section of spec 003 with an obligation, and the other documents, have at least one row. */
const sections = words(
  `0.2 0.3 0.4 0.5 0.6 2.1 2.2 2.3 2.4 2.5 2.6 2.7.1 2.7.2 2.7.3 2.7.4 2.7.5 2.8 2.9 3 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 5.1 5.2
   5.3 5.4 5.5 5.6 5.7 5.8 5.9 5.10 5.11 5.12 6 7 7.1 7.2 8.1 8.2 8.3 8.4 8.5.1 8.5.2 8.5.3 8.6.1 8.6.2 8.7 8.8.1 8.8.2 8.8.3 9 10
   11 12 13 15 F.1 F.3 F.4 000 002 004`,
)
const deferring =
  /\b(manual(ly)? review|manual|TBD|to be decided|smoke test(ed|s)?\b(?! that)|nightly( only)?|later|N\/A|skip(ped)? for now)\b/i

const script = (flag: string) =>
  spawnSync('bash', [join(root, 'scripts/sdlc-acceptance.sh'), flag], { encoding: 'utf8', maxBuffer: 1 << 26 }).stdout

const generated = script('--matrix')
if (process.argv.includes('--write')) writeFileSync(page, generated)

const rows = script('--list')
  .trim()
  .split('\n')
  .map((line) => line.split('\t') as [id: string, section: string, what: string])
const ids = rows.map(([id]) => id)
const problems = [
  ...(readFileSync(page, 'utf8') === generated ? [] : ['the page is not what the rows say: add --write']),
  ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${id}: two rows have this id`),
  ...Object.entries(required).flatMap(([item, wanted]) =>
    wanted.filter((id) => !ids.includes(id)).map((id) => `F.2 item ${item}: there is no row ${id}`),
  ),
  ...sections
    .filter((section) => !rows.some(([, of]) => of === section))
    .map((section) => `section ${section}: there is no row`),
  ...cellsThatDefer(generated),
]

/** Obligation and expectation are read; a command may hold any word. */
function cellsThatDefer(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    if (cells.length < 7 || cells[1] === 'id' || cells[1]?.startsWith('---')) return []
    const [, id, , what = '', command = '', expected = ''] = cells
    const bad = [what, expected].find((cell) => cell === '' || deferring.test(cell))
    return bad === undefined && command !== '' ? [] : [`${id}: a cell is empty or defers: "${bad ?? command}"`]
  })
}

for (const problem of problems) console.error(problem)
console.log(`${rows.length} rows, ${problems.length} problems`)
process.exitCode = problems.length > 0 ? 1 : 0
