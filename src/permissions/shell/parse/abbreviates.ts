/** Long options may be shortened to any beginning that is unique. */
export const abbreviates = (given: string, option: string): boolean =>
  given.startsWith('--') && given.length > 2 && option.startsWith(given.split('=', 1)[0]!)
