/**
 * Builds a static site from docs/: `node scripts/site.ts [FOLDER]`, by default `site`. Every page of ours becomes a page, every
 * other file of the repository that a page links to is shown as text, and a search works without a server.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, extname, join, normalize, relative } from 'node:path'
import hljs from 'highlight.js/lib/common'
import { Marked, type Tokens } from 'marked'
import { html } from '../src/page.ts'

const root = join(import.meta.dirname, '..')
const own = join(import.meta.dirname, 'site')

interface SitePage {
  /** Where it is in the repository: `docs/hooks.md`. */
  readonly source: string
  readonly title: string
  readonly body: string
  readonly sections: readonly { readonly anchor: string; readonly title: string; readonly text: string }[]
}

/** `docs/hooks.md` is `hooks.html`, `docs/README.md` is `index.html`, `examples/a.ts` is `files/examples/a.ts.html`. */
function addressOf(source: string): string {
  if (source === 'docs/README.md') return 'index.html'
  if (/\.(png|svg)$/.test(source)) return source.replace(/^docs\//, '')
  if (!source.endsWith('.md')) return `files/${source}.html`
  return source.replace(/^docs\//, '').replace(/\.md$/, '.html')
}

export function buildSite(folder: string): { readonly pages: number; readonly files: number } {
  rmSync(folder, { recursive: true, force: true })
  const open = ['docs/README.md']
  const done = new Map<string, SitePage>()
  for (let source = open.pop(); source !== undefined; source = open.pop()) {
    if (done.has(source) || /\.(png|svg)$/.test(source)) continue
    const { page, links } = source.endsWith('.md') ? markdownPage(source) : filePage(source)
    done.set(source, page)
    open.push(...links)
    for (const image of links.filter((link) => /\.(png|svg)$/.test(link)))
      copy(join(root, image), join(folder, addressOf(image)))
  }
  const navigation = navigationOf()
  for (const page of done.values()) write(join(folder, addressOf(page.source)), frame(page, navigation))
  for (const name of readdirSync(own)) copy(join(own, name), join(folder, name))
  const guides = [...done.values()].filter(({ source }) => source.endsWith('.md'))
  const index = guides.flatMap(({ source, title, sections }) =>
    sections.map((each) => [addressOf(source) + each.anchor, title, each.title, each.text]),
  )
  write(join(folder, 'search-index.js'), `globalThis.searchIndex = ${JSON.stringify(index)}\n`)
  return { pages: guides.length, files: done.size - guides.length }
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const slug = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')

/** What a page links to in the repository, and its HTML with links that lead there on the site. */
function markdownPage(source: string): { page: SitePage; links: string[] } {
  const text = readFileSync(join(root, source), 'utf8')
  const links: string[] = []
  const here = dirname(addressOf(source))
  const moved = (href: string): string => {
    if (/^[a-z]+:|^#/.test(href)) return href
    const [path = '', anchor] = href.split('#')
    let target = normalize(join(dirname(source), path)).replace(/\/$/, '')
    if (!existsSync(join(root, target))) throw new Error(`${source}: there is no ${target}`)
    if (statSync(join(root, target)).isDirectory() && existsSync(join(root, target, 'README.md')))
      target += '/README.md'
    links.push(target)
    return relative(here, addressOf(target)) + (anchor ? `#${anchor}` : '')
  }
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: title }: Tokens.Heading) {
        return `<h${depth} id="${html(slug(title))}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${html(moved(href))}">${this.parser.parseInline(tokens)}</a>`
      },
      image({ href, text: about }: Tokens.Image) {
        return `<img src="${html(moved(href))}" alt="${html(about)}">`
      },
      table({ header, rows }: Tokens.Table) {
        const row = (cells: Tokens.TableCell[], tag: string) =>
          `<tr>${cells.map((cell) => (tag === 'th' && cell.text === '' ? '<td></td>' : `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`)).join('')}</tr>`
        return `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead>${row(header, 'th')}</thead><tbody>${rows.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>`
      },
      code: ({ text: code, lang = '' }: Tokens.Code) => {
        const [name = '', file] = lang.split(' ')
        return `${file ? `<p class="file"><code>${html(file)}</code></p>` : ''}<pre tabindex="0"><code>${highlighted(code, name)}</code></pre>`
      },
      html: ({ text: raw }: Tokens.HTML | Tokens.Tag) => html(raw),
    },
  })
  const body = marked.parse(text, { async: false })
  const title = /^# (.*)$/m.exec(text)?.[1] ?? source
  return { page: { source, title: title.replaceAll('`', ''), body, sections: sectionsOf(text) }, links }
}

/** Any other file of the repository, or the names in a folder. */
function filePage(source: string): { page: SitePage; links: string[] } {
  const path = join(root, source)
  const isFolder = statSync(path).isDirectory()
  const names = isFolder ? readdirSync(path).sort() : []
  const links = names.map((name) => join(source, name)).filter((each) => /\.(md|ts|sh|json|yaml|sql|mjs)$/.test(each))
  const here = dirname(addressOf(source))
  const body = isFolder
    ? `<ul>${links.map((each) => `<li><a href="${html(relative(here, addressOf(each)))}">${html(each)}</a></li>`).join('')}</ul>`
    : `<pre tabindex="0"><code>${highlighted(readFileSync(path, 'utf8'), extname(source).slice(1))}</code></pre>`
  return { page: { source, title: source, body: `<h1>${html(source)}</h1>${body}`, sections: [] }, links }
}

function highlighted(code: string, language: string): string {
  const names: Record<string, string> = { console: 'shell', jsonc: 'json', mjs: 'javascript' }
  const name = names[language] ?? language
  return hljs.getLanguage(name) ? hljs.highlight(code, { language: name, ignoreIllegals: true }).value : html(code)
}

/** The text under each heading, for the search. */
function sectionsOf(text: string): SitePage['sections'] {
  const parts = text
    .replaceAll(/^`{3,}.*$/gm, '')
    .split(/^#{1,3} /m)
    .slice(1)
  return parts.map((part, at) => {
    const [title = '', ...rest] = part.split('\n')
    const plain = rest
      .join(' ')
      .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[`*|]|-{3,}/g, ' ')
      .replaceAll(/\s+/g, ' ')
    return { anchor: at === 0 ? '' : `#${slug(title)}`, title: title.replaceAll('`', ''), text: plain.trim() }
  })
}

interface Group {
  readonly title: string
  readonly links: readonly { readonly name: string; readonly source: string }[]
}

/** The four paths of docs/README.md. */
function navigationOf(): Group[] {
  const [, ...parts] = readFileSync(join(root, 'docs/README.md'), 'utf8').split(/^## /m)
  return parts.map((part) => {
    const [title = ''] = part.split('\n')
    const found = [...part.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)]
    return { title, links: found.map(([, name, path]) => ({ name: name!, source: normalize(join('docs', path!)) })) }
  })
}

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

function frame({ source, title, body }: SitePage, navigation: readonly Group[]): string {
  const here = dirname(addressOf(source))
  const to = (address: string) => html(relative(here, address) || address)
  const groups = navigation.map(
    ({ title: name, links }) =>
      `<h2>${html(name)}</h2><ul>${links.map((link) => `<li><a href="${to(addressOf(link.source))}"${link.source === source ? ' aria-current="page"' : ''}>${html(capitalized(link.name))}</a></li>`).join('')}</ul>`,
  )
  const policy =
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}"><title>${html(title)} · ona</title>
<link rel="icon" href="${to('icon.svg')}"><link rel="stylesheet" href="${to('style.css')}">
<script src="${to('search-index.js')}" defer></script><script src="${to('search.js')}" defer data-root="${html(relative(here, '.') || '.')}"></script></head>
<body><a class="skip" href="#main">Skip to the page</a>
<header><a class="name" href="${to('index.html')}">ona</a><search><input type="search" id="search" placeholder="Search ( / )" aria-label="Search the documentation" autocomplete="off"><ul id="results" hidden></ul></search></header>
<div class="columns"><nav aria-label="Documentation">${groups.join('')}</nav><main id="main" tabindex="-1">${body}</main></div></body></html>
`
}

if (import.meta.main) {
  const folder = process.argv[2] ?? 'site'
  const { pages, files } = buildSite(folder)
  process.stdout.write(`${folder}: ${pages} pages, ${files} files they link to\n`)
}
