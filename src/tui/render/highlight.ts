/** Code in colours. Loaded when the first code block with a language is shown. */
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { paint, type Role } from './style.ts'

const languages = {
  bash,
  c,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
}
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language)

const roles: Record<string, Role> = {
  keyword: 'keyword',
  built_in: 'name',
  type: 'name',
  title: 'name',
  attr: 'name',
  attribute: 'name',
  tag: 'name',
  name: 'name',
  section: 'name',
  string: 'string',
  regexp: 'string',
  symbol: 'string',
  number: 'number',
  literal: 'number',
  variable: 'number',
  comment: 'comment',
  quote: 'comment',
  meta: 'comment',
  addition: 'added',
  deletion: 'removed',
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" }

/** The lines of the code in colours, or as they are where the language is not known. */
export function highlight(code: string, language: string): string[] {
  const name = language.toLowerCase()
  if (!hljs.getLanguage(name)) return code.split('\n')
  const html = hljs.highlight(code, { language: name, ignoreIllegals: true }).value
  const open: (Role | undefined)[] = []
  let out = ''
  for (const [piece, className, close, text] of html.matchAll(/<span class="([^"]*)">|(<\/span>)|([^<]+)/g)) {
    if (className !== undefined) open.push(roles[/hljs-(\w+?)(?:_|\s|$)/.exec(className)?.[1] ?? ''] ?? open.at(-1))
    else if (close) open.pop()
    else {
      const plain = (text ?? piece).replace(/&(#x27|\w+);/g, (all, entity: string) => entities[entity] ?? all)
      const role = open.at(-1)
      out += role
        ? plain
            .split('\n')
            .map((line) => paint(role, line))
            .join('\n')
        : plain
    }
  }
  return out.split('\n')
}
