/** Bundles src/ into dist/: CommonJS, split by command, so that a start loads only what the command needs. */
import { rmSync } from 'node:fs'
import { build } from 'rolldown'

rmSync('dist', { recursive: true, force: true })
await build({
  input: { main: 'src/cli/main.ts', worker: 'src/tools/worker.ts' },
  platform: 'node',
  external: [/^node:/],
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
