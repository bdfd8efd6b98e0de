/** `ona plugin marketplace`: where plugins come from. */

import { settingsHere } from '../../../agent/session/folder-settings.ts'
import { statOf } from '../../../files/plain-file.ts'
import { Problem } from '../../../files/problem.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { managing } from '../../../plugins/manage.ts'
import { knownMarketplaces } from '../../../plugins/registry.ts'
import { saySource, sourceOfWord } from '../../../plugins/source.ts'
import { command, family } from '../../command.ts'
import { said, saidJson, table, warned, wrong } from '../../print.ts'

const help = `ona plugin marketplace manages the lists that plugins come from.

  ona plugin marketplace add anthropics/claude-plugins-official
  ona plugin marketplace add https://example.com/team/plugins.git#stable
  ona plugin marketplace add ./plugins
  ona plugin marketplace list

  add SOURCE       owner/repo, a git URL, a folder, or the https address of a marketplace.json; #REF names a branch or tag
  list [--json]    all that are known, Claude Code's included, with their plugins
  update [NAME]    fetch again; all without a name
  remove NAME
`

const json = 'flag'
const here = () => managing(settingsHere(), process.env)

const add = command('ona plugin marketplace add', { help, flags: { json }, words: 1 }, async (given, [word]) => {
  if (word === undefined)
    return wrong('ona plugin marketplace add', 'name a source, as in ona plugin marketplace add owner/repo')
  const at = here()
  const read = sourceOfWord(word, at.cwd, (path) => statOf(path)?.isDirectory() === true)
  if ('problem' in read) return wrong('ona plugin marketplace add', read.problem)
  const { addMarketplace } = await import('../../../plugins/marketplaces.ts')
  const { known, marketplace, warnings } = await addMarketplace(at, read.source)
  const plugins = marketplace.plugins.map(({ name }) => name)
  for (const warning of warnings) warned(warning)
  if (given.json) return saidJson({ name: known.name, location: known.location, plugins })
  return said(`added ${known.name}: ${plugins.join(', ') || 'no plugins'}; ona plugin add NAME@${known.name}`)
})

const list = command('ona plugin marketplace list', { help, flags: { json } }, async (given) => {
  const at = here()
  const { marketplaceIn } = await import('../../../plugins/marketplaces.ts')
  const rows = knownMarketplaces(at).map((known) => ({
    ...known,
    ...pluginsIn(() => marketplaceIn(known.location).marketplace.plugins),
  }))
  const declared = Object.keys(at.settings.extraKnownMarketplaces ?? {}).filter(
    (name) => !rows.some((row) => row.name === name),
  )
  if (given.json) return saidJson({ marketplaces: rows, declared })
  if (rows.length + declared.length === 0) return said('no marketplace is known; ona plugin marketplace add SOURCE')
  said(
    table(
      ['marketplace', 'from', 'source', 'plugins'],
      [
        ...rows.map(({ name, by, source, plugins, problem }) => [
          name,
          by,
          saySource(source),
          problem ?? plugins.map((each) => each.name).join(', '),
        ]),
        ...declared.map((name) => [name, 'settings', '', 'fetched when a plugin of it is added']),
      ],
    ),
  )
  return 0
})

function pluginsIn<T>(read: () => T[] | readonly T[]): { readonly plugins: readonly T[]; readonly problem?: string } {
  try {
    return { plugins: read() }
  } catch (error) {
    if (error instanceof Problem) return { plugins: [], problem: error.message }
    throw error
  }
}

const update = command('ona plugin marketplace update', { help, flags: { json }, words: 1 }, async (given, [word]) => {
  const at = here()
  const { addMarketplace } = await import('../../../plugins/marketplaces.ts')
  const own = knownMarketplaces(at).filter(({ name, by }) => by === 'ona' && (word === undefined || name === word))
  if (own.length === 0 && word !== undefined)
    throw new Problem(`ona has no marketplace "${word}" of its own; ona plugin marketplace list`)
  for (const { name, source } of own) {
    const { marketplace, warnings } = await addMarketplace(at, source, name)
    for (const warning of warnings) warned(warning)
    if (!given.json)
      said(`${name}: ${counted(marketplace.plugins.length, 'plugin')}; ona plugin update installs what changed`)
  }
  return given.json ? saidJson(own.map(({ name }) => name)) : 0
})

const remove = command('ona plugin marketplace remove', { help, flags: { json }, words: 1 }, async (given, [word]) => {
  if (word === undefined)
    return wrong('ona plugin marketplace remove', 'name a marketplace; ona plugin marketplace list')
  const { removeMarketplace } = await import('../../../plugins/marketplaces.ts')
  removeMarketplace(here(), word)
  return given.json ? saidJson({ removed: word }) : said(`removed ${word}; plugins that came from it stay installed`)
})

export const marketplace = family('ona plugin marketplace', help, { add, list, update, remove })
