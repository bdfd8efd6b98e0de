import { addRating, mostRating } from '../../../store/ratings.ts'
import { cleanLine } from '../../render/clean.ts'
import type { Ui } from '../../session/command-context.ts'

/** Keeps how well the task went; the verify report shows the last rating. */
export async function run(args: string, { session, front }: Ui): Promise<void> {
  const [, number = '', objective = ''] = /^(\S*)\s*(.*)$/s.exec(cleanLine(args)) ?? []
  const rating = Number(number)
  if (!/^\d+$/.test(number) || rating < 1 || rating > mostRating)
    return front.notice(
      'warning',
      `usage: /rate 1-${mostRating} [what the task was about], for example /rate 4 the login form`,
    )
  const { db, conversationId } = session
  addRating(db, { conversationId, rating, ...(objective && { objective }) })
  front.notice('info', `Rated ${rating} of ${mostRating}; /verify and ona verify show it`)
}
