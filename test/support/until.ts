/** Waits for a condition, but not forever: a test that waits in vain fails and names what it waited for. */
import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises' // a named import, which mocked timers leave alone

/** Counts its looks, not the time: on a busy machine, where each takes longer, there is more of it. */
export async function until(isSo: () => boolean, mostLooks = 4000): Promise<void> {
  for (let look = 0; !isSo(); look++) {
    assert.ok(look < mostLooks, `waited in vain for ${isSo}`)
    await wait(5)
  }
}
