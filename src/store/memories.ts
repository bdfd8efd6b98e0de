/** Memories: what is worth knowing in later conversations, found again by its words. */
import { type Db, newId, type SqlValue } from './open.ts'
import { storable } from './secrets.ts'

export interface Memory {
  readonly id: string
  readonly type: string
  readonly title: string
  readonly content: string | null
  readonly keywords: string | null
  readonly anticipatedQueries: string | null
  readonly conceptTags: string | null
  /** The project that it is about; null: it holds everywhere. */
  readonly projectScope: string | null
  /** How often it was written. */
  readonly correctionCount: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly lastAccessed: number | null
  readonly accessCount: number
  readonly attentionScore: number
}

export interface NewMemory {
  readonly id?: string
  readonly type: string
  readonly title: string
  readonly content?: string | null
  readonly keywords?: string | null
  readonly anticipatedQueries?: string | null
  readonly conceptTags?: string | null
  readonly projectScope?: string | null
  readonly attentionScore?: number
}

/** Writes a memory; one that has the id already is corrected. Times are milliseconds since 1970. */
export function writeMemory(db: Db, memory: NewMemory, now: number = Date.now()): Memory {
  const { id = newId(db), attentionScore = 0.5 } = memory
  const texts = [memory.content, memory.keywords, memory.anticipatedQueries, memory.conceptTags, memory.projectScope]
  return changing(db, () => {
    db.run(
      `INSERT INTO memories(id, type, title, content, keywords, anticipated_queries, concept_tags, project_scope,
         attention_score, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT(id) DO UPDATE SET type = excluded.type, title = excluded.title, content = excluded.content,
         keywords = excluded.keywords, anticipated_queries = excluded.anticipated_queries,
         concept_tags = excluded.concept_tags, project_scope = excluded.project_scope,
         attention_score = excluded.attention_score, updated_at = excluded.updated_at,
         correction_count = correction_count + 1`,
      id,
      memory.type,
      storable(memory.title),
      ...texts.map((text): SqlValue => (text === undefined || text === null ? null : storable(text))),
      attentionScore,
      now,
      now,
    )
    return getMemory(db, id)!
  })
}

/** False: there is none of that id. */
export const deleteMemory = (db: Db, id: string): boolean =>
  changing(db, () => db.run('DELETE FROM memories WHERE id = ?', id).changes === 1)

export const getMemory = (db: Db, id: string): Memory | undefined =>
  db.get<Memory>(`SELECT ${columns} FROM memories m WHERE id = ?`, id)

/** Newest first; with a project, those about it and those about none. */
export const listMemories = (
  db: Db,
  { project = null, limit = 100 }: { project?: string | null; limit?: number } = {},
): Memory[] =>
  db.all<Memory>(
    `SELECT ${columns} FROM memories m WHERE ${inScope} ORDER BY updated_at DESC, rowid DESC LIMIT ?2`,
    project,
    limit,
  )

/**
 * The memories that fit the words best. `query` is plain text: nothing in it has a meaning for the search engine.
 * What is found counts as accessed.
 */
export function searchMemories(
  db: Db,
  query: string,
  { project = null, limit = 10, now = Date.now() }: { project?: string | null; limit?: number; now?: number } = {},
): Memory[] {
  const words = (query.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []).filter((word) => !stopWords.has(word.toLowerCase()))
  if (words.length === 0) return []
  const match = [...new Set(words)].map((word) => `"${word}"`).join(' OR ')
  return changing(db, () => {
    // the search table has no key of ours (its rows are rewritten with each change), so its texts are the key
    const found = db.all<{ id: string }>(
      `SELECT m.id FROM memories_fts f JOIN memories m
         ON m.title = f.title AND m.content IS f.content AND m.keywords IS f.keywords
         AND m.anticipated_queries IS f.anticipated_queries
       WHERE memories_fts MATCH ?3 AND ${inScope}
       GROUP BY m.id ORDER BY min(f.rank) * (0.5 + m.attention_score), m.updated_at DESC LIMIT ?2`,
      project,
      limit,
      match,
    )
    for (const { id } of found)
      db.run('UPDATE memories SET access_count = access_count + 1, last_accessed = ? WHERE id = ?', now, id)
    return found.map(({ id }) => getMemory(db, id)!)
  })
}

/** Words that nearly every sentence has: a memory is not recalled for one of these. */
const stopWords = new Set(
  `a about after all also am an and any are as at be been before but by can could did do does doing for from get had has
  have he her here him his how i if in into is it its just let like make me more most my no not now of on one only or our
  out please she should so some than that the their them then there these they this those to too under up us use very
  was we were what when where which while who why will with would you your`.split(/\s+/),
)

/** Every change rewrites the search table in the same transaction (spec 003 §4.3). */
function changing<T>(db: Db, change: () => T): T {
  return db.transaction(() => {
    const before = changes(db)
    const result = change()
    if (changes(db) !== before) {
      db.run('DELETE FROM memories_fts')
      db.run(`INSERT INTO memories_fts(title, content, keywords, anticipated_queries)
        SELECT title, content, keywords, anticipated_queries FROM memories`)
    }
    return result
  })
}

const changes = (db: Db): number => db.get<{ n: number }>('SELECT total_changes() AS n')!.n

const columns = `m.id, type, m.title, m.content, m.keywords, m.anticipated_queries AS anticipatedQueries,
  concept_tags AS conceptTags, project_scope AS projectScope, correction_count AS correctionCount,
  created_at AS createdAt, updated_at AS updatedAt, last_accessed AS lastAccessed, access_count AS accessCount,
  attention_score AS attentionScore`
const inScope = '(?1 IS NULL OR m.project_scope IS NULL OR m.project_scope = ?1)'
