/** Text from outside, shown to a user who has to judge it. */

/** On one line, with nothing in it that a terminal would obey: what is shown must not hide what it is. */
export const visible = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) =>
    JSON.stringify(sign)
      .slice(1, -1)
      .replace(/^[^\\]$/u, escaped),
  )

const escaped = (sign: string) => `\\u${sign.codePointAt(0)!.toString(16).padStart(4, '0')}`
