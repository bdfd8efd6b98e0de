/** Calls on which every agent's compiled policy and ona's own rules must agree: forms of commands crossed with commands. */

import type { ProofCase } from '../../src/brains/prove/cases.ts'
import { judge } from '../../src/permissions/decide.ts'

/** The policy that the calls are judged by: every kind of rule that is about commands and files. */
export const agreementRules = {
  permissions: {
    deny: ['Bash(rm -rf *)', 'Bash(terraform destroy:*)', 'Bash(npm publish)', 'Read(**/.env)', 'Edit(/infra/**)'],
    ask: ['Bash(git push *)', 'Bash(docker * --privileged *)'],
  },
}

const commands = [
  'rm -rf ona-a',
  'rm -r ona-a',
  'terraform destroy',
  'terraform destroy -auto-approve',
  'terraform plan',
  'npm publish',
  'npm publish --tag x',
  'npm test',
  'git push',
  'git push origin main',
  'git status',
  'docker run --privileged x',
  'docker run x',
  'cat .env',
  'cat sub/.env',
  'cat notes.txt',
  'echo x >> infra/a.tf',
  'echo x >> src/a.ts',
]

const forms: readonly ((command: string) => string)[] = [
  (command) => command,
  (command) => `true && ${command}`,
  (command) => `cd . && ${command}`,
  (command) => `X=1 ${command}`,
  (command) => `env ${command}`,
  (command) => `bash -c '${command}'`,
  (command) => `(${command})`,
  (command) => `echo '${command}'`,
  (command) => `timeout 5 ${command}`,
  (command) => `command ${command}`,
]

/** `count` calls spread over the whole product of forms and commands; the plain form of each command is always there. */
export function corpus(count: number): ProofCase[] {
  const product = forms.flatMap((form) => commands.map(form))
  const rest = product.length - commands.length
  const picked = Array.from(
    { length: Math.max(0, Math.min(count - commands.length, rest)) },
    (_, index) => product[commands.length + Math.floor((index * rest) / Math.max(1, count - commands.length))]!,
  )
  return [...product.slice(0, commands.length), ...picked].map((command, index) => {
    const mark = `ona-agree-${index}`
    return {
      name: command,
      tool: 'Bash',
      input: { command: `${command}; touch ${mark}` },
      expect: 'refused',
      standIns: ['rm', 'terraform', 'npm', 'git', 'docker'],
      files: { '.env': 'X=1\n', 'sub/.env': 'X=1\n', 'notes.txt': 'x\n', 'infra/b': '', 'src/b': '' },
      mark,
    } satisfies ProofCase
  })
}

/** What ona's own rules say of each call, with every other permission given. */
export async function decided(cases: readonly ProofCase[]): Promise<ProofCase[]> {
  const cwd = '/repo'
  return Promise.all(
    cases.map(async (proof) => {
      const { finding } = await judge({
        settings: agreementRules.permissions,
        mode: 'bypassPermissions',
        tool: proof.tool,
        input: { ...proof.input },
        hook: 'none',
        cwd,
        projectDir: cwd,
        home: '/home/x',
      })
      const refuses = finding.word === 'deny' || finding.word === 'ask'
      return { ...proof, expect: refuses ? 'refused' : 'went through' } as const
    }),
  )
}
