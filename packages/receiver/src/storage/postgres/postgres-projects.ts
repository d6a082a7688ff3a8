import type { Paged } from '../../schemas/envelopes.js'
import type { Plan, Project } from '../../schemas/projects.js'
import type { Page } from '../content-storage.js'
import type { ProjectStorage } from '../storage.js'
import { fromStoredText, toStoredText } from '../stored-text.js'
import type { Database } from './database.js'

interface ProjectRow {
  readonly id: string
  readonly allows_content: boolean
}

export class PostgresProjects implements ProjectStorage {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async find(id: string): Promise<Project | undefined> {
    const sql = 'SELECT id, allows_content FROM sluice_projects WHERE id = $1'
    const [row] = await this.#database.servers.read<ProjectRow>(sql, [toStoredText(id)])
    return row && projectOf(row)
  }

  async list(): Promise<string[]> {
    const rows = await this.#database.servers.read<ProjectRow>(
      'SELECT id, allows_content FROM sluice_projects ORDER BY number',
    )
    return rows.map((row) => projectOf(row).id)
  }

  async page({ offset, limit }: Page): Promise<Paged<Project>> {
    const [counted] = await this.#database.servers.read<{ total: number }>(
      'SELECT count(*) AS total FROM sluice_projects',
    )
    const rows = await this.#database.servers.read<ProjectRow>(
      'SELECT id, allows_content FROM sluice_projects ORDER BY number LIMIT $1 OFFSET $2',
      [limit, offset],
    )
    return { total: counted!.total, list: rows.map(projectOf) }
  }

  async add(id: string): Promise<Project | undefined> {
    const sql = `INSERT INTO sluice_projects (id, number, allows_content) VALUES ($1, $2, true) ON CONFLICT DO NOTHING`
    return (await this.#change(sql, [toStoredText(id), this.#database.slot.takeId()]))
      ? { id, plan: { content: true } }
      : undefined
  }

  async changePlan(id: string, plan: Plan): Promise<Project | undefined> {
    const sql = 'UPDATE sluice_projects SET allows_content = $1 WHERE id = $2'
    return (await this.#change(sql, [plan.content, toStoredText(id)])) ? { id, plan } : undefined
  }

  /** Returns true if the statement has changed a row. */
  #change(sql: string, values: readonly unknown[]): Promise<boolean> {
    return this.#database.transactions.run(async (client) => (await client.query(sql, [...values])).rowCount === 1)
  }
}

function projectOf({ id, allows_content }: ProjectRow): Project {
  return { id: fromStoredText(id), plan: { content: allows_content } }
}
