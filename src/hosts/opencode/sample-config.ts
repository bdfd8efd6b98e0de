import type { SampleConfig } from '../sample-config.ts'

/** Our plugin is a file of its own: nothing of the user's is in it. */
export const sample: SampleConfig = {
  config: '',
  mustStay: [],
  byHand: (text) => text.replace('"timeoutMs":5000', '"timeoutMs":99000'),
}
