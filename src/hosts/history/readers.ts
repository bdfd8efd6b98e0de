/** The agents whose histories can be read: the hosts that have a reader, and two agents of which only that is known. */
import { hosts } from '../index.ts'
import { pi } from '../pi/history.ts'
import { qwen } from '../qwen/history.ts'
import type { HistoryReader } from './record.ts'

export const historyReaders: readonly HistoryReader[] = [...hosts.flatMap(({ history }) => history ?? []), qwen, pi]
