/** Where Vim editing stands between two keys. */
export interface Vim {
  mode: 'insert' | 'normal'
  /** The command as far as it is typed. */
  pending: string
  register: { text: string; lines: boolean }
  find?: { readonly kind: string; readonly letter: string }
  /** For `.`: the last command that changed something, and what was typed in insert mode after it. */
  last?: { readonly command: string; typed: string }
}

export const newVim = (): Vim => ({ mode: 'insert', pending: '', register: { text: '', lines: false } })
