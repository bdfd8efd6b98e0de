/** Rows of the transcript on a served page of a conversation. */
export const pageRows = 300
