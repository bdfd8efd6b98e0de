#!/usr/bin/env node
// Starts ona: the bundle in dist/, or src/ in a checkout without a build. Must parse on Node 20.

// an import reads every export of a built-in, which costs milliseconds of each start; Node 20.16 has this quicker way
const builtin = (name) => process.getBuiltinModule?.(name) ?? import(name).then((found) => found.default)
const fs = await builtin('node:fs')
const nodeModule = await builtin('node:module')
const root = new URL('..', import.meta.url)
const [major, minor] = process.versions.node.split('.').map(Number)

if (major > 24 || (major === 24 && minor >= 15)) {
  nodeModule.enableCompileCache?.()
  const bundle = new URL('dist/main.cjs', root)
  if (fs.existsSync(bundle)) nodeModule.createRequire(import.meta.url)('../dist/main.cjs')
  else await import(new URL('src/cli/main.ts', root).href)
} else {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  const own = new URL(`node_modules/.bin/${name}`, root)
  if (!fs.existsSync(own)) {
    console.error(
      `ona needs Node 24.15 or later; this is ${process.version}. Install a current Node, or run npm ci in a checkout.`,
    )
    process.exit(1)
  }
  const { spawn } = await import('node:child_process')
  const child = spawn(fs.realpathSync(own), process.argv.slice(1), { stdio: 'inherit' })
  hideEnvironment()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'])
    process.on(signal, () => child.kill(signal))
  child.on('error', (cause) => {
    console.error(`ona could not start ${own.pathname}: ${cause.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    } else process.exit(code)
  })
}

/** This process only waits; what it was started with, credentials among it, is no longer shown by /proc/PID/environ. */
function hideEnvironment() {
  try {
    const stat = fs.readFileSync('/proc/self/stat', 'latin1')
    const [start, end] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(47, 49)
      .map(Number)
    const memory = fs.openSync('/proc/self/mem', 'r+')
    fs.writeSync(memory, Buffer.alloc(end - start), 0, end - start, start)
    fs.closeSync(memory)
  } catch {
    // no Linux, or a kernel that does not allow it
  }
}
