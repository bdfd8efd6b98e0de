/** A project whose code holds a canary that a hostile test writer tries to see, and the ways that it tries. */
import { execFileSync, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { type Call, cases, implemented } from '../support/workflow.ts'

export const canary = 'CANARY_CODE_41c7'
export const source = `#!/bin/sh\n${canary}=\${1-world}\necho "Hello, $${canary}!"\n`
/** Spelled so that no script holds it, nor the folder of the project: the checker refuses one that names it. */
export const find = (folder: string) =>
  `w=$(printf 'CANARY_%s_41c7' CODE); d=$(printf '%s%s' '${folder.slice(0, 8)}' '${folder.slice(8)}')`

/** The code is committed, copied to /tmp, open in a process, served on loopback, and told to hooks and a server. */
export async function leaky(t: TestContext, script: (port: number) => string) {
  const tries: Call[] = []
  const { at, model } = await implemented(t, [tries], source)
  const server = createServer((_, response) => response.end(source))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: at.folder, stdio: 'ignore' })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'x')
  const holder = spawn('/bin/bash', ['-c', `exec -a holder sleep 600 # ${canary}`], {
    cwd: at.folder,
    env: { PATH: process.env['PATH'], SOURCE: source },
    stdio: 'ignore',
  })
  t.after(() => holder.kill('SIGKILL'))
  const text = `set -u\n${find(at.folder)}\n${script((server.address() as AddressInfo).port)}\n`
  tries.push({ name: 'WriteTestCase', input: { name: 'looks', criterion: 'C1', script: text } }, cases[1]!)
  return { at, model, text, tries, port: (server.address() as AddressInfo).port }
}

export const ways: Readonly<Record<string, (port: number) => string>> = {
  'the project itself': () => `grep -rqs "$w" "$d"/bin "$PROJECT_DIR/bin" "$PROJECT_DIR/../"*`,
  'a link to it': () => `ln -s "$d" here; cat here/bin/* | grep -q "$w"`,
  'git objects': () => `git -C "$d" log -p --all 2>/dev/null | grep -q "$w"`,
  'loose objects': () =>
    `for f in "$d"/.git/objects/??/*; do perl -MCompress::Zlib -0777 -ne 'print uncompress($_)' "$f" 2>/dev/null; done | grep -aq "$w"`,
  '/proc of others': () =>
    `r=/pro; for p in \${r}c/[0-9]*; do tr '\\0' '\\n' 2>/dev/null < $p/environ; cat $p/cwd/bin/greet.sh 2>/dev/null; done | grep -aq "$w"`,
  'a loopback server': (port) =>
    `r=/dev/tc; exec 3<>\${r}p/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && grep -q "$w" <&3`,
  'temporary files': () => `ls -d /tmp/ona-* /var/tmp/ona-* 2>/dev/null | grep -q "$(basename "$(dirname "$d")")"`,
  'ona as a tool': () =>
    `ona --eval '{"tool":"Bash","input":{"command":"cat '"$d"'/bin/greet.sh"}}' --conversation c | grep -q "$w"`,
}
