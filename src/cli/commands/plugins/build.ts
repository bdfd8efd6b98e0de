/** `ona plugin build`: builds a role as an installable plugin or extension of an agent. */
import { resolve } from 'node:path'
import { buildPlugin, type PluginHost, pluginHosts } from '../../../brains/plugin.ts'
import { findRoles, roleNamed } from '../../../brains/roles/find.ts'
import { repositoryOf } from '../../../brains/targets.ts'
import { command } from '../../command.ts'
import { said, saidJson, warned, wrong } from '../../print.ts'

const help = `ona plugin build: make a role an installable plugin or extension of an agent, from one source.

  ona plugin build mechanic --host claudecode --out ./mechanic-plugin
  ona plugin build mechanic --host gemini --out ./mechanic-extension

  --host H     claudecode, codex, gemini, cursor or copilot
  --out DIR    a new or empty folder
  --json       the files as JSON
`

const flags = { host: { kind: 'value', oneOf: [...pluginHosts, 'claude'] }, out: 'value', json: 'flag' } as const

export const build = command('ona plugin build', { help, flags, words: 1 }, async ({ host, out, json }, [word]) => {
  const wrongly = (why: string) => wrong('ona plugin build', why)
  if (!word) return wrongly('name a role, as in ona plugin build mechanic --host claudecode --out DIR')
  if (!host || !out) return wrongly('--host and --out are needed')
  const repo = repositoryOf(process.cwd())
  const { role, base } = roleNamed(word, await findRoles(repo, { runCode: true }))
  const slug = (host === 'claude' ? 'claudecode' : host) as PluginHost
  const { files, install, limits } = buildPlugin(role, slug, { out: resolve(out), base, repo })
  if (json) saidJson({ out: resolve(out), files, install, limits })
  else said(`${files.map((path) => `  ${path}\n`).join('')}\ninstall it: ${install}`)
  for (const limit of limits) warned(limit)
  return 0
})
