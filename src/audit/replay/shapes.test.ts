/** Rulings by shape are those of the line itself, whatever the numbers, the rules and the files are. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { judge } from '../../permissions/decide.ts'
import { rememberingView } from '../../permissions/paths/view.ts'
import type { PermissionSettings } from '../../permissions/question.ts'
import type { Question, Ruled } from './ruled.ts'
import { rememberingRulings } from './rulings.ts'
import { rulingsByShape } from './shapes.ts'

const root = mkdtempSync(join(tmpdir(), 'ona-shapes-'))
after(() => rmSync(root, { recursive: true, force: true }))
const project = join(root, 'project-1')
mkdirSync(join(project, 'src/part12'), { recursive: true })
mkdirSync(join(project, 'build/77/.git'), { recursive: true })
mkdirSync(join(root, 'secrets9'))
for (const name of [
  '.env',
  'src/file1.ts',
  'src/file12.ts',
  'src/part12/file7.ts',
  '--checkpoint-action=exec=x12',
  '-n12',
])
  writeFileSync(join(project, name), '')
symlinkSync('../.env', join(project, 'src/file13.ts'))
symlinkSync('/etc', join(project, 'src/part13'))
symlinkSync(join(root, 'nowhere'), join(project, 'src/part14'))
symlinkSync('../secrets9', join(root, 'project-1', 'link99'))
// a project behind a link, with a folder behind another
mkdirSync(join(root, 'vol12/project/src'), { recursive: true })
mkdirSync(join(root, 'data34/secrets'), { recursive: true })
symlinkSync('../../data34/secrets', join(root, 'vol12/project/secrets'))
symlinkSync('vol12/project', join(root, 'linked'))

const policies: Record<string, PermissionSettings> = {
  plain: {
    allow: [
      'Bash(git status *)',
      'Bash(git log *)',
      'Bash(npm test *)',
      'Bash(node scripts/*)',
      'Bash(builtin:read-only)',
    ],
    ask: ['Bash(git push *)', 'Bash(docker *)'],
    deny: ['Bash(rm -rf /*)', 'Bash(sudo *)', 'Read(.env)', 'Edit(/secrets/**)'],
  },
  numbers: {
    allow: [
      'Bash(builtin:read-only)',
      'Bash(head -n 12 *)',
      'Bash(tail -5 *)',
      'Edit(/build/7*/**)',
      'Read(//tmp/out-12*)',
    ],
    ask: ['Bash(git reset --hard HEAD~1*)', 'Bash(* 12 *)', 'Bash(node scripts/run12.mjs *)'],
    deny: [
      'Bash(chmod 777 *)',
      'Bash(kill -9 *)',
      'Bash(* port=80*)',
      'Edit(/v2/**)',
      'Read(file13.ts)',
      'Read(**/x1?/**)',
    ],
  },
  sets: { deny: ['Read(file[1-3].ts)', 'Bash(rm *)'], allow: ['Bash(builtin:read-only)'] },
}

/** `#`: a number; `@`: the same number again as the first. */
const parts = [
  ...[
    'git status',
    'npm test -- src/part#',
    'git show HEAD~# --stat',
    'cd @P && git log --oneline -n #',
    'head -# src/file#.ts',
  ],
  ...[
    'git commit -m "fix case #"',
    'grep -rn "handle#" src --include=*.ts',
    'node scripts/run#.mjs --case # > /tmp/out-#.txt 2>&1',
  ],
  ...[
    "sed -n '#,#p' src/part#/file#.ts",
    'for f in src/part#/*.ts; do wc -l "$f"; done',
    'NODE_ENV=test npx mocha test/case-#.js',
  ],
  ...[
    'curl -s https://api.example.com/items/# | jq .name',
    'mkdir -p build/# && cp -r dist build/@/',
    'cp -r src build/#/',
  ],
  ...[
    'rm -rf build/tmp-#',
    'python# -c "print(# * 2)"',
    'docker run --rm -v "$PWD:/app" app:# npm run check',
    'chmod # x',
    'chmod 7"#" x',
  ],
  ...[
    'cat src/file#.ts',
    'cat "src/file#.ts"',
    'cat src/part#/file#.ts',
    'cat src/fi"le"#.ts',
    "cat 'src/'file#.ts",
    'cat src/part#/../.env',
  ],
  ...[
    'echo x > out#.sh; sh out@.sh',
    'echo x > out#.sh; sh out#.sh',
    'cat <#',
    'echo hi >#',
    'echo hi 2>#',
    'echo hi >&#',
    'ls #>x',
  ],
  ...[
    'echo $#',
    'echo ${#}',
    'echo $((# + #))',
    'cat file{1..#}',
    'cat src/file[1-#].ts',
    'cat src/file#*.ts',
    'cat src/file?#.ts',
  ],
  ...[
    'kill -# 1',
    'kill -9 #',
    'man # ls',
    'man -# ls',
    'sha#sum x',
    'base# x',
    '#z x a.zip',
    'x#_64 rm x',
    'linux# rm x',
    'PS#=x',
  ],
  ...[
    'cat id_ed#',
    'cat cert.p#',
    'cat .s#cfg',
    'export PS#="$(id)"',
    'printf "\\#"',
    "printf '\\x#'",
    "echo $'\\x#'",
    'perl -e "print \\"\\x#\\""',
  ],
  ...[
    'python3 -c "import os; os.system(\\"r\\" + \\"m#\\")"',
    "python3 -c \"open('file#' + '#.ts')\"",
    "python3 -c 'open(#)'",
    'node -e "x#()"',
  ],
  ...[
    'sed s#a#b# x',
    "sed 's/a#/b#/e' x",
    "sed -n '#e' x",
    'sed "r src/file#.ts" x',
    "sed 'w out#' x",
    'awk "{print > \\"out#\\"}" x',
  ],
  ...[
    'xargs -I # rm #',
    'ls | xargs head -n #',
    'ls | xargs -I{} cp {} build/#',
    'tool # $x',
    'tool a# "$x" b#',
    'tool port=#',
    'tool --port=#',
  ],
  ...[
    'git push -f# origin',
    'git -c a#=b log',
    'tar xf a#.tar -C build/#',
    'tar cf a#.tar *',
    'rsync a# host#:b',
    'dd if=a# of=b#',
    'rm -rf $PWD-#/x',
  ],
  ...[
    'cat link#/key',
    'cat ~/x#',
    'cat ~#/x',
    'cat $HOME/.ona/x#',
    'rm -rf ~/.ona/agents/a#',
    'cp x# .ona/',
    'vim +# src/file#.ts',
    'v#/x',
    'rm v#/y',
  ],
  ...[
    'cat /proc/#/environ',
    'cat /proc/#/status',
    'cat /dev/fd/#',
    'timeout # rm -rf /x#',
    'sleep # &',
    'env A#=# sh -c "cat src/file#.ts"',
    'cd src/part# && cat file#.ts',
  ],
  ...[
    'ssh host# "rm -rf /#"',
    'bash -c "cat src/file#.ts | tail -n #"',
    "eval 'cat src/file#.ts'",
    'tee out#.txt < src/file#.ts',
    'test # -gt # && ls',
    'a#\\#',
  ],
  ...[
    'cat @R/vol#/project/src/a.ts',
    'echo x > @R/data#/secrets/y',
    'echo x > secrets/k#',
    'tar xf a.tar -C build/# && cp -r build/* x/',
  ],
]
/** As a session protects its record. */
const protect = [
  { at: 'exact', path: join(root, 'db12/agent.db'), edit: 'deny', read: 'deny', what: 'the record' },
] as const
const joints = [' && ', ' | ', '; ', ' || ', '\n']
const pool = [
  '0',
  '1',
  '2',
  '3',
  '4',
  '5',
  '7',
  '9',
  '12',
  '13',
  '14',
  '32',
  '64',
  '77',
  '80',
  '99',
  '256',
  '777',
  '7777',
  '8601',
  '25519',
  '1777',
  '120',
  '1234',
  '80123',
  '007',
]

/** mulberry32 */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

async function judgedNow(question: Question): Promise<Ruled> {
  const { ruling, finding } = await judge(question)
  const { decision, reason, rule } = ruling
  return rule === undefined || rule !== finding.rule?.text
    ? { decision, reason }
    : { decision, reason, rule: `${finding.word}:${rule}` }
}

for (const [name, settings] of Object.entries(policies))
  for (const cwd of [project, join(root, 'linked'), '/home/dev/not-there/project-1'])
    test(`a line with other numbers is ruled on as it is by itself: ${name} in ${basename(dirname(cwd)).replace(/-.*/, '')}/${basename(cwd)}`, async () => {
      const random = generator(cwd.length + name.length)
      const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
      const files = rememberingView({ lasting: true })
      const ask = (command: string): Question => ({
        ...{ settings, mode: 'default', tool: 'Bash', input: { command }, hook: 'none', files },
        ...{ cwd, projectDir: cwd, home: join(root, 'home'), protect },
      })
      await judge(ask('true')) // loads the parser
      const rulings = rememberingRulings()
      const byShape = rulingsByShape((question) => {
        const found = judge(question)
        assert.ok(!(found instanceof Promise))
        const { decision, reason, rule } = found.ruling
        return { decision, reason, ...(rule !== undefined && { rule }) }
      })
      let shaped = 0
      const lines = Number(process.env['ONA_TEST_FULL'] ? 3000 : 250)
      for (let made = 0; made < lines; made++) {
        const shape = made < parts.length ? parts[made]! : [pick(parts), pick(parts)].join(pick(joints))
        for (let filling = 0; filling < 7; filling++) {
          const first = pick(pool)
          const line = shape
            .replaceAll('@P', cwd)
            .replaceAll('@R', root)
            .replace('#', first)
            .replaceAll('#', () => (random() < 0.3 ? `${Math.floor(random() * 1e6)}` : pick(pool)))
            .replaceAll('@', first)
          const question = ask(line)
          assert.deepEqual(await rulings(question, () => question), await judgedNow(question), line)
          if (byShape(question, line, 0)) shaped++
        }
      }

      assert.ok(name === 'sets' ? shaped === 0 : shaped > 10, `only ${shaped} were ruled on by their shape`)
    })

test('rules that cannot be read change nothing', async () => {
  const settings = { deny: { a: 1 }, ask: [12, 'Bash(rm *)'] } as unknown as PermissionSettings
  const rulings = rememberingRulings()
  const files = rememberingView({ lasting: true })
  for (const command of ['ls x12', 'ls x34', 'ls x56', 'rm x12', 'rm x34', 'rm x56']) {
    const question: Question = {
      ...{ settings, mode: 'default', tool: 'Bash', input: { command }, hook: 'none', files },
      ...{ cwd: '/no/project', projectDir: '/no/project', home: '/no/home' },
    }
    assert.deepEqual(await rulings(question, () => question), await judgedNow(question), command)
  }
})
