/** The library of policies to start from. */
import { cloudDestroy } from './cloud-destroy.ts'
import { commitFormat } from './commit-format.ts'
import { licenceHeaders } from './licence-headers.ts'
import { networkEgress } from './network-egress.ts'
import { noForcePush } from './no-force-push.ts'
import { packagePublishing } from './package-publishing.ts'
import { lockFiles, productionFolders, secretFiles } from './protected-files.ts'
import type { Starter } from './starter.ts'
import { testBeforeStop } from './test-before-stop.ts'

export const starters: readonly Starter[] = [
  ...[noForcePush, secretFiles, lockFiles, productionFolders, packagePublishing, cloudDestroy, networkEgress],
  ...[licenceHeaders, commitFormat, testBeforeStop],
]

/** The starter that the words name best; undefined when none of them names any. */
export function starterFor(text: string): Starter | undefined {
  const words = text.toLowerCase().match(/[a-z-]+/g) ?? []
  const score = ({ id, words: own }: Starter) =>
    (id === text ? 100 : 0) +
    words.filter((word) => own.includes(word) || own.includes(word.replace(/(?:es|s)$/, ''))).length
  const best = starters.toSorted((a, b) => score(b) - score(a))[0]!
  return score(best) > 0 ? best : undefined
}
