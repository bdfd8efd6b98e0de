/** Settings that guard something: where one has no effect, that is reported first. */

const names =
  /permission|automode|approv|bypass|danger|hook|sandbox|deny|allow|block|strict|trust|secure|secret|credential|policy|managed|force|require|disable|restrict|mcp|proxy|auth|login|apikey|telemetry|attribution|network|version/i

export const isSecurityKey = (key: string): boolean => names.test(key)
