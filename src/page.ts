/** The frame of our pages: one self-contained file, in light and dark, that loads nothing from outside. */

export interface Page {
  readonly title: string
  /** The small line above the heading. */
  readonly kicker: string
  readonly body: string
  /** Beside what all pages share. */
  readonly style?: string
  readonly script?: string
}

export function page({ title, kicker, body, style = '', script = '' }: Page): string {
  const styles = sharedStyle + style
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${rulesFor(styles, script)}"><meta name="referrer" content="no-referrer">
<title>${html(title)}</title><style>${styles}</style></head><body><main>
<p class="kicker">${html(kicker)}</p>
${body}
</main>${script && `<script>${script}</script>`}</body></html>
`
}

/** Only our own style and script count, known by what they are; nothing is loaded from anywhere. */
function rulesFor(style: string, script: string): string {
  const sources = script === '' ? '' : `; script-src ${digest(script)}`
  return `default-src 'none'; style-src ${digest(style)}${sources}; base-uri 'none'; form-action 'none'`
}

const digest = (text: string): string =>
  `'sha256-${process.getBuiltinModule('node:crypto').createHash('sha256').update(text).digest('base64')}'`

/**
 * Text of others as text and nothing else, between tags and in attributes. What would turn the direction of the words
 * around it, or cannot be seen, is spelt out; a terminal's colours are dropped.
 */
export const html = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(/\u001b\[[\d;]*m/g, '')
    .replaceAll(/[&<>"'`]|[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}]|\p{Surrogate}/gu, (sign) =>
      /[&<>"'`]/.test(sign) ? `&#${sign.charCodeAt(0)};` : `\\u${sign.codePointAt(0)!.toString(16).padStart(4, '0')}`,
    )

/** What all pages share. */
export const sharedStyle = `
:root{color-scheme:light dark;--ink:#1c2024;--soft:#60646c;--line:#d9dce1;--paper:#fff;--field:#f6f7f9;--good:#18794e;--bad:#c62a2f;--wait:#946800;--accent:#3a5bc7;--goodbg:#e9f9ee;--badbg:#ffefef}
@media(prefers-color-scheme:dark){:root{--ink:#edeef0;--soft:#b0b4ba;--line:#363a3f;--paper:#16181a;--field:#212427;--good:#3dd68c;--bad:#ff9592;--wait:#ffca16;--accent:#9eb1ff;--goodbg:#132d21;--badbg:#3b1219}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,sans-serif}
main{max-width:960px;margin:0 auto;padding:40px 24px 80px}.kicker{margin:0;color:var(--soft);letter-spacing:.04em}
h1{margin:.1em 0;font-size:28px;line-height:1.25;overflow-wrap:anywhere}h2{margin:36px 0 10px;font-size:18px}h3{margin:12px 0 4px;font-size:12px;color:var(--soft);text-transform:uppercase;letter-spacing:.06em}
.facts{color:var(--soft);overflow-wrap:anywhere}code,pre{font:13px/1.5 ui-monospace,monospace}
.sum{display:flex;flex-wrap:wrap;border:1px solid var(--line);border-left-width:5px;border-radius:8px;overflow:hidden}
.sum.good{border-left-color:var(--good)}.sum.bad{border-left-color:var(--bad)}.sum div{flex:1 1 120px;padding:14px 18px}.sum b{display:block;font-size:20px}.sum span{color:var(--soft);font-size:13px}
table{width:100%;border-collapse:collapse}th{text-align:left;color:var(--soft);font-weight:500;font-size:13px}th,td{padding:9px 10px 9px 0;border-bottom:1px solid var(--line);vertical-align:top}
a{color:inherit;text-decoration:none}a:hover{text-decoration:underline}
.badge{display:inline-block;padding:0 8px;border-radius:10px;font-size:12px;border:1px solid currentColor;white-space:nowrap}
.good-ink{color:var(--good)}.bad-ink{color:var(--bad)}.wait-ink{color:var(--wait)}.soft-ink{color:var(--soft)}
details{border:1px solid var(--line);border-radius:8px;margin:8px 0;padding:10px 14px}summary{cursor:pointer}.time{float:right;color:var(--soft);font-size:12px}
pre{background:var(--field);padding:10px 12px;border-radius:6px;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;margin:0;unicode-bidi:isolate}
.stack td{overflow-wrap:anywhere}.stack .badge{overflow-wrap:normal}
@media(max-width:600px){.stack thead{display:none}.stack :is(tr,td){display:block;border:0;padding:2px 0}.stack tr{border-bottom:1px solid var(--line);padding:10px 0}}
@media print{details{break-inside:avoid}}`
