/** The input line: the draft, what could complete it, what was typed before, and the keys that do more than edit. */
import { Attachments, type Image } from './attachments.ts'
import { type Menu, type Sources, suggest } from './complete.ts'
import { change, draftOf, emptyDraft, insert, newEditor, press } from './editor.ts'
import { type History, HistoryWalk, searchHistory } from './history.ts'
import type { Input } from './keys.ts'
import { vertical } from './layout.ts'
import { drawPrompt, type PromptPicture } from './prompt-picture.ts'
import type { Frame } from './screen.ts'
import type { View } from './view.ts'
import { newVim, toNormal, vimType } from './vim.ts'

/** What the keys of the input line do to the rest of the program. */
export interface PromptActions {
  /** `shown` is the line with its pastes folded. */
  submit(text: string, images: readonly Image[], shown: string): void
  interrupt(): void
  rewind(): void
  exit(): void
  turnMode(): void
  transcript(): void
  openEditor(text: string): Promise<string | undefined>
  pickModel(): void
  toggleTodos(): void
  redraw(): void
  suspend(): void
  /** What is queued, taken out of the queue. */
  takeQueue(): string | undefined
  changed(): void
}

export interface PromptOptions {
  readonly actions: PromptActions
  readonly sources: Sources
  history(): History
  busy(): boolean
  cwd(): string
  vim(): boolean
  /** What stands below the line. */
  status(columns: number): readonly string[]
}

/** A second press counts within this time. */
const twiceMs = 1_500

export class Prompt implements View {
  readonly #options: PromptOptions
  readonly #editor = newEditor()
  readonly #vim = newVim()
  #attachments = new Attachments()
  #walk: HistoryWalk | undefined
  #menu: (Menu & { at: number }) | undefined
  #menuFor = 0
  #closedAt: string | undefined
  #search: { wanted: string; at: number; before: string } | undefined
  #twice: { key: string; at: number } | undefined
  #chord = false
  #help = false
  #stash: string | undefined
  #columns = 80

  constructor(options: PromptOptions) {
    this.#options = options
  }

  get text(): string {
    return this.#editor.draft.text
  }

  get vimMode(): 'insert' | 'normal' | undefined {
    return this.#options.vim() ? this.#vim.mode : undefined
  }

  set(text: string): void {
    change(this.#editor, draftOf(text))
    this.#walk = undefined
    this.#complete()
  }

  press(input: Input): void {
    const { actions } = this.#options
    if ('paste' in input) this.#paste(input.paste)
    else if (this.#search) this.#searching(input)
    else if ('text' in input) this.#type(input.text)
    else this.#key(input.key)
    if (!('key' in input) || (input.key !== 'ctrl+c' && input.key !== 'ctrl+d' && input.key !== 'esc'))
      this.#twice = undefined
    actions.changed()
  }

  #paste(text: string): void {
    change(this.#editor, insert(this.#editor.draft, this.#attachments.paste(text, this.#options.cwd())))
    this.#walk = undefined
    this.#complete()
  }

  #type(text: string): void {
    if (text === '?' && this.text === '' && this.#vim.mode === 'insert') {
      this.#help = !this.#help
      return
    }
    this.#help = false
    if (this.#options.vim() && this.#vim.mode === 'normal') for (const letter of text) this.#normal(letter)
    else {
      change(this.#editor, insert(this.#editor.draft, text))
      if (this.#vim.last) this.#vim.last.typed += text
    }
    this.#walk = undefined
    this.#closedAt = undefined
    this.#complete()
  }

  #normal(letter: string): void {
    if (this.#vim.mode === 'insert') this.#type(letter)
    else if (this.#vim.pending === '' && (letter === 'j' || letter === 'k') && !this.text.includes('\n'))
      this.#vertical(letter === 'j' ? 1 : -1)
    else vimType(this.#vim, this.#editor, letter)
  }

  #key(key: string): void {
    if (this.#chord) {
      this.#chord = false
      if (key === 'ctrl+e') void this.#external()
      return
    }
    const bound = this.#bindings[key]
    if (bound) bound()
    else if (press(this.#editor, key)) {
      this.#walk = undefined
      this.#closedAt = undefined
      this.#complete()
    }
  }

  readonly #bindings: Record<string, () => void> = {
    enter: () => this.#enter(),
    esc: () => this.#escape(),
    tab: () => this.#tab(),
    'shift+tab': () => this.#options.actions.turnMode(),
    up: () => (this.#menu?.items.length ? this.#pick(-1) : this.#vertical(-1)),
    down: () => (this.#menu?.items.length ? this.#pick(1) : this.#vertical(1)),
    'ctrl+p': () => (this.#menu?.items.length ? this.#pick(-1) : this.#older()),
    'ctrl+n': () => (this.#menu?.items.length ? this.#pick(1) : this.#newer()),
    'ctrl+c': () => this.#interrupt(),
    'ctrl+d': () => {
      if (this.text !== '') press(this.#editor, 'ctrl+d')
      else if (this.#again('ctrl+d')) this.#options.actions.exit()
    },
    'ctrl+r': () => {
      this.#search = { wanted: '', at: 0, before: this.text }
    },
    'ctrl+o': () => this.#options.actions.transcript(),
    'ctrl+t': () => this.#options.actions.toggleTodos(),
    'ctrl+l': () => this.#options.actions.redraw(),
    'ctrl+z': () => this.#options.actions.suspend(),
    'ctrl+g': () => void this.#external(),
    'ctrl+x': () => {
      this.#chord = true
    },
    'ctrl+s': () => {
      const kept = this.#stash
      this.#stash = this.text || undefined
      this.set(kept ?? '')
    },
    'alt+p': () => this.#options.actions.pickModel(),
  }

  #enter(): void {
    const menu = this.#menu
    const item = menu?.items[menu.at]
    if (menu && item) {
      this.#accept(menu, item)
      if (!item.runs) return
    } else if (this.#editor.draft.cursor > 0 && this.text[this.#editor.draft.cursor - 1] === '\\') {
      press(this.#editor, 'backspace')
      press(this.#editor, 'ctrl+j')
      return
    }
    this.#submit()
  }

  #submit(): void {
    const shown = this.text
    if (shown.trim() === '') return
    const { text, images } = this.#attachments.unfold(shown)
    this.#options.history().add(text.length > 2_000 ? shown : text)
    this.#clear()
    this.#attachments = new Attachments()
    this.#options.actions.submit(text, images, shown)
  }

  #clear(): void {
    this.#editor.draft = emptyDraft
    this.#editor.undone = []
    this.#walk = undefined
    this.#menu = undefined
    this.#menuFor++
    this.#help = false
    this.#vim.mode = 'insert'
  }

  #escape(): void {
    const { actions } = this.#options
    if (this.#menu) {
      this.#closedAt = this.text
      this.#menu = undefined
      this.#menuFor++
    } else if (this.#help) this.#help = false
    else if (this.#options.busy()) actions.interrupt()
    else if (this.#options.vim() && this.#vim.mode === 'insert' && this.text !== '') toNormal(this.#vim, this.#editor)
    else if (this.text === '!') this.#clear()
    else if (this.#again('esc')) {
      this.#twice = undefined
      if (this.text === '') actions.rewind()
      else this.#drop()
    }
  }

  /** Clears the line; it can be had back with Up. */
  #drop(): void {
    this.#options.history().add(this.#attachments.unfold(this.text).text)
    this.#clear()
  }

  #interrupt(): void {
    if (this.#options.busy()) this.#options.actions.interrupt()
    else if (this.text !== '') this.#drop()
    else if (this.#again('ctrl+c')) this.#options.actions.exit()
  }

  /** Whether this is the second press; the first is remembered and hinted at. */
  #again(key: string): boolean {
    const second = this.#twice?.key === key && Date.now() - this.#twice.at < twiceMs
    this.#twice = { key, at: Date.now() }
    if (!second) setTimeout(() => this.#options.actions.changed(), twiceMs + 10).unref()
    return second
  }

  #tab(): void {
    const menu = this.#menu
    const item = menu?.items[menu.at]
    if (menu && item) this.#accept(menu, item)
    else if (this.text.startsWith('!')) {
      const found = searchHistory(this.#options.history().entries(), this.text).find(
        (one) => one.startsWith(this.text) && one !== this.text,
      )
      if (found) this.set(found)
    } else this.#complete()
  }

  #accept(menu: Menu, item: Menu['items'][number]): void {
    const { text } = this.#editor.draft
    change(this.#editor, {
      text: text.slice(0, menu.from) + item.insert + text.slice(menu.to),
      cursor: menu.from + item.insert.length,
    })
    this.#menu = undefined
    this.#menuFor++
    if (item.insert.endsWith('/')) this.#complete()
  }

  #pick(by: number): void {
    const menu = this.#menu!
    menu.at = (menu.at + by + menu.items.length) % menu.items.length
  }

  #complete(): void {
    const turn = ++this.#menuFor
    if (this.text === this.#closedAt) return
    void suggest(this.#editor.draft, this.#options.sources).then((menu) => {
      if (turn !== this.#menuFor) return
      this.#menu = menu && { ...menu, at: 0 }
      this.#options.actions.changed()
    })
  }

  #vertical(by: -1 | 1): void {
    const at = vertical(this.#editor.draft, this.#columns, by)
    if (at !== undefined && !this.#walk) this.#editor.draft = { ...this.#editor.draft, cursor: at }
    else if (by < 0) this.#older()
    else this.#newer()
  }

  #older(): void {
    const queued = this.#walk ? undefined : this.#options.actions.takeQueue()
    if (queued) {
      this.set(this.text ? `${queued}\n${this.text}` : queued)
      return
    }
    this.#walk ??= new HistoryWalk(this.#options.history().entries(), this.text)
    this.#show(this.#walk.older())
  }

  #newer(): void {
    this.#show(this.#walk?.newer())
  }

  #show(text: string | undefined): void {
    if (text === undefined) return
    this.#editor.draft = draftOf(text)
    this.#menu = undefined
    this.#menuFor++
  }

  #searching(input: Input): void {
    const search = this.#search!
    const found = () => searchHistory(this.#options.history().entries(), search.wanted)
    if ('text' in input) {
      search.wanted += input.text
      search.at = 0
    } else if ('key' in input) {
      const { key } = input
      if (key === 'ctrl+r') search.at = Math.min(search.at + 1, Math.max(0, found().length - 1))
      else if (key === 'ctrl+s') search.at = Math.max(0, search.at - 1)
      else if (key === 'backspace' && search.wanted !== '') search.wanted = search.wanted.slice(0, -1)
      else if (key === 'ctrl+c' || key === 'backspace' || key === 'ctrl+g') {
        this.#search = undefined
        this.#editor.draft = draftOf(search.before)
        return
      } else {
        this.#search = undefined
        if (key === 'enter') this.#submit()
        return
      }
    }
    const match = found()[search.at]
    this.#editor.draft = draftOf(match ?? (search.wanted === '' ? search.before : this.text))
  }

  async #external(): Promise<void> {
    const edited = await this.#options.actions.openEditor(this.#attachments.unfold(this.text).text)
    if (edited !== undefined) this.set(edited.replace(/\n$/, ''))
    this.#options.actions.changed()
  }

  draw(columns: number, rows: number): Frame {
    this.#columns = columns - 2
    const picture: PromptPicture = {
      draft: this.#editor.draft,
      menu: this.#menu,
      search: this.#search?.wanted,
      help: this.#help,
      hint: this.#hint(),
      status: this.#options.status(columns),
      busy: this.#options.busy(),
      vim: this.vimMode,
    }
    return drawPrompt(picture, columns, rows)
  }

  #hint(): string {
    const { key, at } = this.#twice ?? { key: '', at: 0 }
    if (Date.now() - at > twiceMs) return this.#stash ? 'a draft is stashed (ctrl+s)' : ''
    const hints: Record<string, string> = {
      'ctrl+c': 'press ctrl+c again to leave',
      'ctrl+d': 'press ctrl+d again to leave',
      esc: this.text === '' ? 'press esc again to rewind' : 'press esc again to clear',
    }
    return hints[key] ?? ''
  }
}
