/** A copy of the checkout to change: files of its own, installed packages that share their bytes with the checkout's. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const copies = new Set<string>()

export function copyCheckout(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'ona-mutation-'))
  copies.add(copy)
  for (const file of trackedFiles(root)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file), { verbatimSymlinks: true })
  }
  // hard links: a sandbox that shows the copy alone has its packages too, which a symbolic link would lead out of
  const [packages, ours] = [join(root, 'node_modules'), join(copy, 'node_modules')]
  if (spawnSync('cp', ['-al', packages, ours], { stdio: 'ignore' }).status !== 0) {
    rmSync(ours, { recursive: true, force: true })
    cpSync(packages, ours, { recursive: true, verbatimSymlinks: true })
  }
  rmSync(join(ours, '.cache'), { recursive: true, force: true })
  if (existsSync(join(root, 'dist'))) cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true })
  forgetBuild(copy)
  return copy
}

/** What is built from the mutated source: `bin/ona.mjs` runs `src/` instead, and tests make the dispatcher's files anew. */
export function forgetBuild(copy: string): void {
  for (const built of ['main.cjs', 'dispatcher']) rmSync(join(copy, 'dist', built), { recursive: true, force: true })
}

export function removeCopies(): void {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true, maxRetries: 5 })
}

const trackedFiles = (root: string): string[] =>
  execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(root, file)))
