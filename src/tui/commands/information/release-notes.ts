import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../../package-root.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(_args: string, { front, version }: Ui): Promise<void> {
  const file = join(packageRoot, 'CHANGELOG.md')
  if (!existsSync(file)) return front.print(`ona ${version}; this installation came without a CHANGELOG.md`)
  const sections = readFileSync(file, 'utf8').split(/^(?=## )/m)
  front.markdown(
    sections
      .filter((section) => section.startsWith('## '))
      .slice(0, 3)
      .map(unbroken)
      .join('\n') || sections[0]!,
  )
}

/** The file's own line breaks are not the screen's: a paragraph is one line, broken where it is shown. */
const unbroken = (text: string): string => text.replace(/(?<=\S)\n(?=[^\s#>|*-]|\*\*)/g, ' ')
