/**
 * Bundles src/ into dist/: CommonJS, split by command, so that a start loads only what the command needs. Beside it lie
 * the public parts and their types.
 */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { build } from 'rolldown'
import { buildDispatcher } from './build-dispatcher.ts'

rmSync('dist', { recursive: true, force: true })
await build({
  input: {
    main: 'src/cli/main.ts',
    worker: 'src/tools/worker.ts',
    hooks: 'src/hooks/index.ts',
    brains: 'src/brains/index.ts',
    dispatcher: 'src/dispatcher/index.ts',
  },
  platform: 'node',
  external: [/^node:/, /^@napi-rs\/keyring/, /^@vscode\/ripgrep/],
  resolve: { mainFields: ['module', 'main'] },
  transform: { target: 'node24' },
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    minify: true,
  },
})
await buildDispatcher('dist/dispatcher')

const types = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })
if (types.status !== 0) process.exit(1)
