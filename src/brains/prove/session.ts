/** Runs one agent headless against the rehearsal model, which attempts the cases one after another. */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import type { Host } from '../../hosts/host.ts'
import type { LaunchPlace, McpServer } from '../../hosts/launch.ts'
import type { Chat, Said } from '../../rehearsal/chat.ts'
import { offeredTool } from '../../rehearsal/offered-tools.ts'
import { startRehearsal } from '../../rehearsal/server.ts'
import type { ProofCase } from './cases.ts'
import { mcpMark, mcpServerText } from './mcp-server.ts'
import { viewOf } from './mounts.ts'

export interface ProofResult {
  readonly name: string
  readonly outcome: 'refused' | 'went through' | 'not offered' | 'not attempted'
  readonly expect: ProofCase['expect']
  /** What the agent reported to the model, or why nothing was attempted. */
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
    // an agent that stopped answering half-way is given the call once more, as the first of a new run
    const unanswered = done.results.findIndex(({ outcome }) => outcome === 'not attempted')
    if (unanswered > 0) done.results.length = unanswered
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
  const attempts: Attempt[] = []
  const home = join(scratch, 'home')
  const stop = new AbortController()
  let idle: NodeJS.Timeout | undefined
  const model = await startRehearsal({
    player(chat) {
      clearTimeout(idle)
      idle = setTimeout(() => stop.abort(), timeoutMs / 4)
      return nextCall(chat, host, cases, attempts, home)
    },
  })
  try {
    const place: LaunchPlace = {
      home,
      repo: join(scratch, 'repo'),
      model: model.url,
      mcp: mcpServersFor(scratch, cases),
      put(path, content) {
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`)
      },
    }
    mkdirSync(home, { recursive: true })
    const bin = standIns(scratch, cases)
    // a login shell sets its own PATH
    for (const profile of ['.profile', '.bash_profile', '.zprofile'])
      place.put(join(home, profile), `export PATH="${bin}:$PATH"\n`)
    const env = {
      PATH: [bin, process.env['PATH']].join(delimiter),
      HOME: home,
      SHELL: '/bin/bash',
      TERM: 'dumb',
      LANG: 'C.UTF-8',
      ...host.launch!.env?.(place),
    }
    const clone = repo ? ['clone', '-q', '--no-hardlinks', repo, place.repo] : ['init', '-q', place.repo]
    await runProgram('git', clone, scratch, { ...env, PATH: process.env['PATH']! }, 60_000)
    const at = (path: string) => (path.startsWith('~/') ? join(home, path.slice(2)) : resolve(place.repo, path))
    const paths = cases.flatMap(({ files = {}, writes }) => [...Object.keys(files), ...(writes ? [writes] : [])])
    const view = viewOf(scratch, root, [...new Set(paths.filter((path) => path.startsWith('/')))])
    for (const { files = {} } of cases) for (const [path, text] of Object.entries(files)) view.put(at(path), text)
    host.launch!.setup?.(place)
    const [command, words] = view.command(program, host.launch!.args(place, 'Do what the model proposes.'))
    const output = await runProgram(command, words, place.repo, env, timeoutMs, stop.signal)
    const results = attempts.map(({ proof, offered, result }): ProofResult => {
      const { name, expect } = proof
      if (!offered) return { name, expect, outcome: 'not offered', evidence: 'the model is not given the tool' }
      const through = wentThrough(proof, { scratch, repo: place.repo, result, at: (path) => view.real(at(path)) })
      if (!through && result === undefined && output.includes(timedOut))
        return { name, expect, outcome: 'not attempted', evidence: `${host.title} did not answer${timedOut}` }
      return {
        name,
        expect,
        outcome: through ? 'went through' : 'refused',
        evidence: (result ?? lastWords(output)).slice(0, 300),
      }
    })
    return { results, output }
  } finally {
    clearTimeout(idle)
    await model.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

interface Attempt {
  readonly proof: ProofCase
  readonly offered: boolean
  result?: string
}

/** The next case, once the one before it has its result. Requests without a shell are for titles and the like. */
function nextCall(chat: Chat, { dialect }: Host, cases: readonly ProofCase[], attempts: Attempt[], home: string): Said {
  if (!offeredTool('Bash', chat.tools) && !chat.tools.some(({ name }) => /shell|bash|exec/i.test(name)))
    return { text: 'Done.' }
  const last = chat.messages.findLast(({ role }) => role === 'tool')
  const open = attempts.findLast(({ offered }) => offered)
  if (open && open.result === undefined && last) open.result = last.text
  while (attempts.length < cases.length) {
    const proof = cases[attempts.length]!
    const { mcp, input } = proof
    // an agent may take a forbidden MCP tool out of the list: the call is made all the same, and must fail
    const name = mcp ? (dialect.mcp?.(mcp.server, mcp.tool) ?? proof.tool) : proof.tool
    const offered = mcp !== undefined || offeredTool(name, chat.tools) !== undefined
    attempts.push({ proof, offered })
    const path = input['file_path']
    const inHome = typeof path === 'string' && path.startsWith('~/') && { file_path: join(home, path.slice(2)) }
    if (offered) return { calls: [{ name, input: { ...input, ...inHome } }] }
  }
  return { text: 'Done.' }
}

interface Seen {
  readonly scratch: string
  readonly repo: string
  /** What the model received. */
  readonly result: string | undefined
  at(path: string): string
}

function wentThrough({ mark, mcp, token, writes, files }: ProofCase, { scratch, repo, result, at }: Seen): boolean {
  if (mcp) return existsSync(join(scratch, mcpMark(mcp)))
  if (mark !== undefined) return existsSync(join(repo, mark))
  if (token === undefined) return false
  if (writes !== undefined) return existsSync(at(writes)) && readFileSync(at(writes), 'utf8').includes(token)
  return files !== undefined && result?.includes(`SECRET=${token}`) === true
}

/** One server for each name in the cases, with the tools that they call. */
function mcpServersFor(scratch: string, cases: readonly ProofCase[]): McpServer[] {
  const tools = new Map<string, Set<string>>()
  for (const { mcp } of cases) if (mcp) tools.set(mcp.server, (tools.get(mcp.server) ?? new Set()).add(mcp.tool))
  const path = join(scratch, 'mcp-server.cjs')
  if (tools.size > 0) writeFileSync(path, mcpServerText)
  return [...tools].map(([name, names]) => ({
    name,
    command: process.execPath,
    args: [path, scratch, name, ...names],
  }))
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

/** Said of a program that was ended. */
const timedOut = ' within the time limit'

const lastWords = (output: string) => `the agent ended: ${output.trim().split('\n').slice(-3).join(' ')}`

function runProgram(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
  stop?: AbortSignal,
): Promise<string> {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let said = ''
    const hear = (chunk: Buffer) => {
      said = (said + chunk).slice(-20_000)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    const end = () => {
      said += timedOut
      process.kill(-child.pid!, 'SIGKILL')
    }
    const timer = setTimeout(end, timeoutMs)
    stop?.addEventListener('abort', end)
    const quit = () => {
      end()
      process.exit(1)
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, quit)
    child.on('error', (cause) => {
      clearTimeout(timer)
      done(cause.message)
    })
    child.on('close', (code) => {
      clearTimeout(timer)
      stop?.removeEventListener('abort', end)
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, quit)
      done(`${said}\n[exit ${code}]\n`)
    })
  })
}
