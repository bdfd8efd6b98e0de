/** Runs one agent headless against the rehearsal model, which attempts the cases one after another. */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Host } from '../../hosts/host.ts'
import type { LaunchPlace } from '../../hosts/launch.ts'
import type { Chat, Said } from '../../rehearsal/chat.ts'
import { offeredTool } from '../../rehearsal/offered-tools.ts'
import { startRehearsal } from '../../rehearsal/server.ts'
import type { ProofCase } from './cases.ts'

export interface ProofResult {
  readonly name: string
  readonly outcome: 'refused' | 'went through' | 'not offered' | 'not attempted'
  readonly expect: ProofCase['expect']
  /** What the agent told the model, or why nothing was attempted. */
  readonly evidence: string
}

export interface ProofOptions {
  /** "/" or a folder that stands for it, with the policy in it. */
  readonly root: string
  /** A repository to work in a clone of; none: an empty one. */
  readonly repo?: string
  readonly timeoutMs: number
}

/** An agent may end its turn at a refusal; it is then started again with the cases that are left. */
export async function proveHost(
  host: Host,
  program: string,
  cases: readonly ProofCase[],
  options: ProofOptions,
): Promise<ProofResult[]> {
  const results: ProofResult[] = []
  let left = [...cases]
  while (left.length > 0) {
    const done = await runOnce(host, program, left, options)
    results.push(...done.results)
    if (done.results.length === 0) {
      const why = `${host.title} called for no tool; it said: ${done.output.trim().slice(-300)}`
      results.push(
        ...left.map(({ name, expect }): ProofResult => ({ name, expect, outcome: 'not attempted', evidence: why })),
      )
      break
    }
    left = left.slice(done.results.length)
  }
  return results
}

async function runOnce(
  host: Host,
  program: string,
  cases: readonly ProofCase[],
  { root, repo, timeoutMs }: ProofOptions,
) {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), `ona-prove-${host.slug}-`)))
  const attempts: { proof: ProofCase; offered: boolean; result?: string }[] = []
  const bodies: string[] = []
  const model = await startRehearsal({
    onRequest: ({ body }) => void bodies.push(body),
    player: (chat) => nextCall(chat, cases, attempts),
  })
  try {
    const place: LaunchPlace = {
      home: join(scratch, 'home'),
      repo: join(scratch, 'repo'),
      model: model.url,
      put(path, content) {
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`)
      },
    }
    mkdirSync(place.home, { recursive: true })
    const bin = standIns(scratch, cases)
    // a login shell sets its own PATH
    for (const profile of ['.profile', '.bash_profile', '.zprofile'])
      place.put(join(place.home, profile), `export PATH="${bin}:$PATH"\n`)
    const env = {
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: place.home,
      SHELL: '/bin/bash',
      TERM: 'dumb',
      LANG: 'C.UTF-8',
      ...host.launch!.env?.(place),
    }
    const clone = repo ? ['clone', '-q', '--no-hardlinks', repo, place.repo] : ['init', '-q', place.repo]
    await runProgram('git', clone, scratch, { ...env, PATH: process.env['PATH']! }, 60_000)
    for (const { files = {} } of cases)
      for (const [path, text] of Object.entries(files)) place.put(join(place.repo, path), text)
    host.launch!.setup?.(place)
    const args = host.launch!.args(place, 'Do what the model proposes.')
    const [command, words] = root === '/' ? [program, args] : insideRoot(root, program, args)
    const output = await runProgram(command, words, place.repo, env, timeoutMs)
    const heard = bodies.join('\n')
    const results = attempts.map(({ proof, offered, result }): ProofResult => {
      const { name, expect } = proof
      if (!offered) return { name, expect, outcome: 'not offered', evidence: 'the model is not given the tool' }
      const through = wentThrough(proof, place.repo, heard)
      return {
        name,
        expect,
        outcome: through ? 'went through' : 'refused',
        evidence: (result ?? lastWords(output)).slice(0, 300),
      }
    })
    return { results, output }
  } finally {
    await model.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The next case, once the one before it has its result. Requests without a shell are for titles and the like. */
function nextCall(
  chat: Chat,
  cases: readonly ProofCase[],
  attempts: { proof: ProofCase; offered: boolean; result?: string }[],
): Said {
  if (!offeredTool('Bash', chat.tools) && !chat.tools.some(({ name }) => /shell|bash|exec/i.test(name)))
    return { text: 'Done.' }
  const last = chat.messages.findLast(({ role }) => role === 'tool')
  const open = attempts.findLast(({ offered }) => offered)
  if (open && open.result === undefined && last) open.result = last.text
  while (attempts.length < cases.length) {
    const proof = cases[attempts.length]!
    const offered = offeredTool(proof.tool, chat.tools) !== undefined
    attempts.push({ proof, offered })
    if (offered) return { calls: [{ name: proof.tool, input: { ...proof.input } }] }
  }
  return { text: 'Done.' }
}

function wentThrough({ mark, token, tool, input, files }: ProofCase, repo: string, heard: string): boolean {
  if (mark !== undefined) return existsSync(join(repo, mark))
  if (token === undefined) return false
  // a token in a file that was there before must reach the model; one that the call writes must be on the disk
  if (files) return heard.includes(`SECRET=${token}`)
  const path = join(repo, String(input['file_path']))
  return tool === 'Write' && existsSync(path) && readFileSync(path, 'utf8').includes(token)
}

/** Programs of the cases' names that do nothing. */
function standIns(scratch: string, cases: readonly ProofCase[]): string {
  const bin = join(scratch, 'bin')
  mkdirSync(bin)
  for (const name of new Set(cases.flatMap((proof) => proof.standIns ?? []).map((path) => basename(path)))) {
    // what the agents themselves need stays as it is
    if (['cd', 'env', 'sh', 'bash', 'node', 'cat', 'touch', 'true'].includes(name)) continue
    writeFileSync(join(bin, name), '#!/bin/sh\nexit 0\n')
    chmodSync(join(bin, name), 0o755)
  }
  return bin
}

/** The program in a mount namespace in which the root's /etc lies over the machine's. */
function insideRoot(root: string, program: string, args: readonly string[]): [string, string[]] {
  const staged = existsSync(join(root, 'etc')) ? readdirSync(join(root, 'etc')) : []
  const binds = readdirSync('/etc').filter((name) => !staged.includes(name))
  const words = ['--dev-bind', '/', '/', '--tmpfs', '/etc']
  for (const name of binds) words.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`)
  for (const name of staged) words.push('--ro-bind', join(root, 'etc', name), `/etc/${name}`)
  return ['bwrap', [...words, '--', program, ...args]]
}

const lastWords = (output: string) => `the agent ended: ${output.trim().split('\n').slice(-3).join(' ')}`

function runProgram(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
): Promise<string> {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let said = ''
    const hear = (chunk: Buffer) => {
      said = (said + chunk).slice(-20_000)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), timeoutMs)
    child.on('error', (cause) => {
      clearTimeout(timer)
      done(cause.message)
    })
    child.on('close', (code) => {
      clearTimeout(timer)
      done(`${said}\n[exit ${code}]\n`)
    })
  })
}
