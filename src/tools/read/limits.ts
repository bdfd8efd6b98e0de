/** How much of a file one call shows. */
export const readLimits = {
  /** Lines, when the call names no limit. */
  lines: 2000,
  /** Characters of one line. */
  lineLength: 2000,
  /** Bytes of the whole answer. */
  bytes: 262_144,
  /** Rows of sixteen bytes, when the file is binary and the call names no limit. */
  hexRows: 64,
  /** Pages of a PDF: without `pages`, and with. */
  pdfPages: 10,
  pdfPagesAsked: 20,
} as const
