import type { Paged } from '../../schemas/envelopes.js'
import type { Plan, Project } from '../../schemas/projects.js'
import type { Page } from '../content-storage.js'
import { type Sql, sql } from '../sql.js'
import type { ProjectStorage } from '../storage.js'
import { fromStoredText, toStoredText } from '../stored-text.js'
import { insertion, type Rows } from './rows.js'

interface ProjectRow {
  readonly id: string
  readonly allows_content: boolean | number
}

export class ProjectTable implements ProjectStorage {
  readonly #rows: Rows
  readonly #projects: Sql

  constructor(rows: Rows) {
    this.#rows = rows
    this.#projects = rows.dialect.table('projects')
  }

  async find(id: string): Promise<Project | undefined> {
    const [row] = await this.#rows.all<ProjectRow>(
      sql`SELECT id, allows_content FROM ${this.#projects} WHERE id = ${toStoredText(id)}`,
    )
    return row && projectOf(row)
  }

  async list(): Promise<string[]> {
    const rows = await this.#rows.all<ProjectRow>(
      sql`SELECT id, allows_content FROM ${this.#projects} ORDER BY ${this.#rows.dialect.number}`,
    )
    return rows.map((row) => projectOf(row).id)
  }

  async page({ offset, limit }: Page): Promise<Paged<Project>> {
    const [counted] = await this.#rows.all<{ total: number }>(sql`SELECT count(*) AS total FROM ${this.#projects}`)
    const rows = await this.#rows.all<ProjectRow>(
      sql`SELECT id, allows_content FROM ${this.#projects} ORDER BY ${this.#rows.dialect.number} LIMIT ${limit} OFFSET ${offset}`,
    )
    return { total: counted!.total, list: rows.map(projectOf) }
  }

  add(id: string): Promise<Project | undefined> {
    const cells = { ...this.#rows.dialect.newRow('projects'), id: toStoredText(id), allows_content: true }
    return this.#changed(sql`${insertion(this.#projects, cells)} ON CONFLICT DO NOTHING RETURNING id, allows_content`)
  }

  changePlan(id: string, plan: Plan): Promise<Project | undefined> {
    return this.#changed(
      sql`UPDATE ${this.#projects} SET allows_content = ${plan.content} WHERE id = ${toStoredText(id)} RETURNING id, allows_content`,
    )
  }

  async #changed(change: Sql): Promise<Project | undefined> {
    const [row] = await this.#rows.run<ProjectRow>(change)
    return row && projectOf(row)
  }
}

function projectOf({ id, allows_content }: ProjectRow): Project {
  return { id: fromStoredText(id), plan: { content: Boolean(allows_content) } }
}
