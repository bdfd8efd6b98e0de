/** Bundles what runs in the browser for `ona inspect`: one script and one style sheet, loaded from our own server only. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from 'rolldown'

const web = 'src/audit/inspect/web'

export async function buildInspect(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  await build({
    input: join(web, 'main.tsx'),
    platform: 'browser',
    transform: { target: 'es2022' },
    tsconfig: join(web, 'tsconfig.json'),
    output: { file: join(folder, 'inspect.js'), format: 'esm', minify: true },
  })
  const charts = dirname(createRequire(import.meta.url).resolve('uplot'))
  const styles = [join(charts, 'uPlot.min.css'), join(web, 'app.css')].map((file) => readFileSync(file, 'utf8'))
  writeFileSync(join(folder, 'inspect.css'), styles.join('\n'))
  writeFileSync(join(folder, 'icon.svg'), readFileSync(join(web, 'icon.svg')))
}
