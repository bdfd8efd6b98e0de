/** The input line: the draft, what could complete it, what was typed before, and the keys that do more than edit. */

import type { Frame } from '../render/screen.ts'
import type { View } from '../render/view.ts'
import { Attachments, type Image } from './attachments.ts'
import type { Sources } from './complete.ts'
import { change, type Draft, draftOf, emptyDraft, insert, newEditor, press } from './editor.ts'
import { type History, HistorySearch, HistoryWalk, searchHistory } from './history.ts'
import type { Input } from './keys.ts'
import { vertical } from './layout.ts'
import { CompletionMenu } from './menu.ts'
import { drawPrompt, type PromptPicture } from './prompt-render.ts'
import { toNormal, vimType } from './vim.ts'
import { newVim } from './vim-state.ts'

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
  /** Sends what runs to the background; false when nothing does. */
  toBackground(): boolean
  /** An image out of the clipboard; undefined when there is none, and the user has seen why. */
  clipboardImage(): Promise<Image | undefined>
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
/** A text this long that comes back into the line comes folded, as it was pasted. */
const longDraft = 2_000

export class Prompt implements View {
  readonly #options: PromptOptions
  readonly #editor = newEditor()
  readonly #vim = newVim()
  readonly #attachments = new Attachments()
  #walk: HistoryWalk | undefined
  readonly #menu: CompletionMenu
  #search: HistorySearch | undefined
  #twice: { key: string; at: number } | undefined
  #chord = false
  #help = false
  #stash: string | undefined
  #columns = 80

  constructor(options: PromptOptions) {
    this.#options = options
    this.#menu = new CompletionMenu(options.sources, () => options.actions.changed())
  }

  get text(): string {
    return this.#editor.draft.text
  }

  get vimMode(): 'insert' | 'normal' | undefined {
    return this.#options.vim() ? this.#vim.mode : undefined
  }

  set(text: string): void {
    this.#edit(this.#folded(text))
  }

  press(input: Input): void {
    const { actions } = this.#options
    if (this.#search) this.#searching(this.#search, input)
    else if ('paste' in input) this.#paste(input.paste)
    else if ('text' in input) this.#type(input.text)
    else this.#key(input.key)
    if (!('key' in input) || (input.key !== 'ctrl+c' && input.key !== 'ctrl+d' && input.key !== 'esc'))
      this.#twice = undefined
    actions.changed()
  }

  #edit(draft: Draft): void {
    change(this.#editor, draft)
    this.#edited()
  }

  /** The line is another one: what was walked through is left, and what could complete it is asked for. */
  #edited(): void {
    this.#walk = undefined
    this.#menu.ask(this.#editor.draft)
  }

  #folded(text: string): Draft {
    return draftOf(text.length > longDraft ? this.#attachments.paste(text, this.#options.cwd()) : text)
  }

  #paste(text: string): void {
    this.#edit(insert(this.#editor.draft, this.#attachments.paste(text, this.#options.cwd())))
  }

  async #pasteImage(): Promise<void> {
    const image = await this.#options.actions.clipboardImage()
    if (image) this.#edit(insert(this.#editor.draft, this.#attachments.add(image)))
    this.#options.actions.changed()
  }

  #type(text: string): void {
    if (text === '?' && this.text === '' && this.#vim.mode === 'insert') {
      this.#help = !this.#help
      return
    }
    this.#help = false
    if (this.#options.vim() && this.#vim.mode === 'normal') {
      for (const letter of text) this.#normal(letter)
      return
    }
    if (this.#vim.last) this.#vim.last.typed += text
    this.#edit(insert(this.#editor.draft, text))
  }

  #normal(letter: string): void {
    if (this.#vim.mode === 'insert') this.#type(letter)
    else if (this.#vim.pending === '' && (letter === 'j' || letter === 'k') && !this.text.includes('\n'))
      this.#vertical(letter === 'j' ? 1 : -1)
    else {
      vimType(this.#vim, this.#editor, letter)
      this.#edited()
    }
  }

  #key(key: string): void {
    if (this.#chord) {
      this.#chord = false
      if (key === 'ctrl+e') void this.#external()
      return
    }
    const bound = this.#bindings[key]
    if (bound) bound()
    else if (press(this.#editor, key)) this.#edited()
  }

  readonly #bindings: Record<string, () => void> = {
    enter: () => this.#enter(),
    esc: () => this.#escape(),
    tab: () => this.#tab(),
    'shift+tab': () => this.#options.actions.turnMode(),
    up: () => (this.#menu.picked ? this.#menu.move(-1) : this.#vertical(-1)),
    down: () => (this.#menu.picked ? this.#menu.move(1) : this.#vertical(1)),
    'ctrl+p': () => (this.#menu.picked ? this.#menu.move(-1) : this.#older()),
    'ctrl+n': () => (this.#menu.picked ? this.#menu.move(1) : this.#newer()),
    'ctrl+c': () => this.#interrupt(),
    'ctrl+d': () => {
      if (this.text !== '') press(this.#editor, 'ctrl+d')
      else if (this.#again('ctrl+d')) this.#options.actions.exit()
    },
    'ctrl+r': () => {
      this.#search = new HistorySearch(this.#options.history().entries(), this.text)
    },
    'ctrl+o': () => this.#options.actions.transcript(),
    'ctrl+t': () => this.#options.actions.toggleTodos(),
    'ctrl+b': () => {
      if (!(this.#options.busy() && this.#options.actions.toBackground())) press(this.#editor, 'ctrl+b')
    },
    'ctrl+v': () => void this.#pasteImage(),
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
    const { picked } = this.#menu
    if (picked) {
      change(this.#editor, this.#menu.accept(this.#editor.draft))
      if (!picked.runs) return
    } else if (this.#editor.draft.cursor > 0 && this.text[this.#editor.draft.cursor - 1] === '\\') {
      press(this.#editor, 'backspace')
      press(this.#editor, 'ctrl+j')
      return
    }
    this.#submit()
  }

  #submit(): void {
    const shown = this.text.trimEnd()
    if (shown.trim() === '') return
    const { text, images } = this.#attachments.unfold(shown)
    this.#options.history().add(text)
    this.#clear()
    this.#options.actions.submit(text, images, shown)
  }

  #clear(): void {
    this.#editor.draft = emptyDraft
    this.#editor.undone = []
    this.#walk = undefined
    this.#menu.close()
    this.#help = false
    this.#vim.mode = 'insert'
  }

  #escape(): void {
    const { actions } = this.#options
    if (this.#menu.open) this.#menu.dismiss(this.#editor.draft)
    else if (this.#help) this.#help = false
    else if (this.#options.busy()) actions.interrupt()
    else if (this.#options.vim() && this.text !== '')
      toNormal(this.#vim, this.#editor) // however often: vim's people do
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
    if (this.#menu.picked) change(this.#editor, this.#menu.accept(this.#editor.draft))
    else if (this.text.startsWith('!')) {
      const found = searchHistory(this.#options.history().entries(), this.text).find(
        (one) => one.startsWith(this.text) && one !== this.text,
      )
      if (found) this.set(found)
    } else this.#menu.ask(this.#editor.draft, true)
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
    this.#editor.draft = this.#folded(text)
    this.#menu.close()
  }

  #searching(search: HistorySearch, input: Input): void {
    const then = search.press(input)
    if (then === 'left' || search.wanted === '') this.#editor.draft = draftOf(search.before)
    else if (search.found !== undefined) this.#editor.draft = this.#folded(search.found)
    if (then !== 'goes-on') this.#search = undefined
    if (then === 'run') this.#submit()
  }

  async #external(): Promise<void> {
    const edited = await this.#options.actions.openEditor(this.#attachments.unfold(this.text).text)
    if (edited !== undefined) this.#edit(draftOf(edited.replace(/\n$/, '')))
    this.#options.actions.changed()
  }

  draw(columns: number, rows: number): Frame {
    this.#columns = columns - 2
    const picture: PromptPicture = {
      draft: this.#editor.draft,
      menu: this.#menu.open,
      search: this.#search?.wanted,
      help: this.#help,
      hint: this.#hint(),
      status: this.#options.status(columns),
      busy: this.#options.busy(),
      vim: this.vimMode,
      arguments: this.#arguments(),
    }
    return drawPrompt(picture, columns, rows)
  }

  /** What a command takes, while nothing of it is written yet. */
  #arguments(): string {
    const [, name] = /^\/(\S+) $/.exec(this.text) ?? []
    return (name && this.#options.sources.commands().find((one) => one.name === name)?.argumentHint) || ''
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
