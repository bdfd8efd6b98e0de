import { hostSuite } from '../../test/support/host-suite.ts'
import { claudecode } from './claudecode/index.ts'
import { hosts } from './index.ts'
import type { SampleConfig } from './sample-config.ts'

const sampleOf = async (slug: string): Promise<SampleConfig> => (await import(`./${slug}/sample-config.ts`)).sample

for (const host of hosts) hostSuite(host, await sampleOf(host.slug))

hostSuite(claudecode.shared!.forAll, await sampleOf('claudecode'), '-guarded')
