import type { Paged } from '../../schemas/envelopes.js'
import type { Plan, Project } from '../../schemas/projects.js'
import type { Page } from '../content-storage.js'
import type { ProjectStorage } from '../storage.js'
import { fromStoredText, toStoredText } from '../stored-text.js'
import type { Database, Statement } from './database.js'

export class SqliteProjects implements ProjectStorage {
  readonly #find: Statement
  readonly #list: Statement
  readonly #count: Statement
  readonly #page: Statement
  readonly #add: Statement
  readonly #changePlan: Statement

  constructor(database: Database) {
    this.#find = database.prepare('SELECT allows_content FROM projects WHERE id = ?')
    this.#list = database.prepare('SELECT id FROM projects ORDER BY created_at, rowid')
    this.#count = database.prepare('SELECT count(*) AS total FROM projects')
    this.#page = database.prepare('SELECT id, allows_content FROM projects ORDER BY created_at, rowid LIMIT ? OFFSET ?')
    this.#add = database.prepare('INSERT OR IGNORE INTO projects (id, created_at) VALUES (?, ?)')
    this.#changePlan = database.prepare('UPDATE projects SET allows_content = ? WHERE id = ?')
  }

  async find(id: string): Promise<Project | undefined> {
    const row = this.#find.get(toStoredText(id)) as { allows_content: number } | undefined
    return row && projectOf(id, row)
  }

  async list(): Promise<string[]> {
    return (this.#list.all() as { id: string }[]).map(({ id }) => fromStoredText(id))
  }

  async page({ offset, limit }: Page): Promise<Paged<Project>> {
    const { total } = this.#count.get() as { total: number }
    const rows = this.#page.all(limit, offset) as { id: string; allows_content: number }[]
    return { total, list: rows.map((row) => projectOf(fromStoredText(row.id), row)) }
  }

  async add(id: string): Promise<Project | undefined> {
    const { changes } = this.#add.run(toStoredText(id), Date.now())
    return Number(changes) === 0 ? undefined : { id, plan: { content: true } }
  }

  async changePlan(id: string, plan: Plan): Promise<Project | undefined> {
    const { changes } = this.#changePlan.run(plan.content ? 1 : 0, toStoredText(id))
    return Number(changes) === 0 ? undefined : { id, plan }
  }
}

function projectOf(id: string, { allows_content }: { readonly allows_content: number }): Project {
  return { id, plan: { content: allows_content === 1 } }
}
