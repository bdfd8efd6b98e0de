/** Links that a click opens (OSC 8), on terminals that are known to have them. */

let on = false

/** `ONA_HYPERLINKS=on` and `off` decide; otherwise what the terminal says of itself. */
export function useHyperlinks(env: NodeJS.ProcessEnv): void {
  const asked = env['ONA_HYPERLINKS']
  on = asked === 'on' || (asked !== 'off' && hasHyperlinks(env))
}

/** tmux passes them on only where it is configured to, so that it counts as one that has none. */
function hasHyperlinks(env: NodeJS.ProcessEnv): boolean {
  if (env['TMUX'] || /^(screen|tmux|dumb|linux)/.test(env['TERM'] ?? '')) return false
  return (
    /^(iTerm\.app|WezTerm|vscode|ghostty|Hyper|rio|Tabby)$/.test(env['TERM_PROGRAM'] ?? '') ||
    /kitty|alacritty|foot|ghostty|contour/.test(env['TERM'] ?? '') ||
    Number(env['VTE_VERSION'] ?? 0) >= 5000 ||
    Boolean(env['KITTY_WINDOW_ID'] || env['WT_SESSION'] || env['KONSOLE_VERSION'])
  )
}

/** `shown` is `text` with its styles. The link, or undefined where it must be spelled out. A text that itself looks like an address never hides another. */
export function hyperlink(shown: string, text: string, href: string): string | undefined {
  const isPlain = /^(?:https?:|mailto:)[\x21-\x7e]+$/.test(href) && href.length <= 2000
  const deceives = /\w+:\/\/|www\.|\w\.[a-z]{2,}(?:\/|$)/i.test(text) && !href.includes(text)
  return on && isPlain && !deceives ? `\x1b]8;;${href}\x1b\\${shown}${endOfLink}` : undefined
}

export const endOfLink = '\x1b]8;;\x1b\\'
