/** `--file` of `--file=x`. */
export const optionName = (option: string): string => option.split('=', 1)[0]!

/** Long options may be shortened to any beginning that is unique. */
export const abbreviates = (given: string, option: string): boolean =>
  given.startsWith('--') && given.length > 2 && option.startsWith(optionName(given))
