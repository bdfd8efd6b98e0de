/** Findings in SARIF 2.1.0, which code hosts show beside the lines of a pull request. */

export interface Finding {
  readonly rule: string
  readonly level: 'error' | 'warning' | 'note'
  readonly message: string
  /** Relative to the repository; a finding about no line is shown at the first. */
  readonly file: string
  readonly line?: number
}

export function sarif(command: string, findings: readonly Finding[]): string {
  const rules = [...new Set(findings.map(({ rule }) => rule))]
  return `${JSON.stringify(
    {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { name: command, rules: rules.map((id) => ({ id, shortDescription: { text: id } })) } },
          results: findings.map(({ rule, level, message, file, line = 1 }) => ({
            ...{ ruleId: rule, ruleIndex: rules.indexOf(rule), level, message: { text: message } },
            locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) }, region: { startLine: line } } }],
          })),
        },
      ],
    },
    null,
    2,
  )}\n`
}

/** A path as a relative reference; Windows writes it with backslashes. */
const uriOf = (file: string): string => file.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/')
