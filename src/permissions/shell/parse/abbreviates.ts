/** `--file` of `--file=x`. */
export const optionName = (option: string): string => option.split('=', 1)[0]!

/** Long options may be shortened to any beginning that is unique. */
export const abbreviates = (given: string, option: string): boolean =>
  given.startsWith('--') && given.length > 2 && option.startsWith(optionName(given))

/** Whether one of the words is such an option, also shortened. */
export const anyAbbreviates = (words: readonly string[], options: readonly string[]): boolean =>
  words.some((word) => options.some((option) => abbreviates(word, option)))
