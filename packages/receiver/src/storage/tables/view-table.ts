import { type Sql, sql } from '../sql.js'
import { maxViews, type SavedView, type ViewStorage } from '../storage.js'
import { fromStoredText, toStoredText } from '../stored-text.js'
import type { Rows } from './rows.js'

export class ViewTable implements ViewStorage {
  readonly #rows: Rows
  readonly #views: Sql

  constructor(rows: Rows) {
    this.#rows = rows
    this.#views = rows.dialect.table('saved_views')
  }

  async list(): Promise<SavedView[]> {
    const rows = await this.#rows.all<SavedView>(sql`SELECT name, hash FROM ${this.#views}`)
    return rows.map(({ name, hash }) => ({ name: fromStoredText(name), hash: fromStoredText(hash) }))
  }

  async save(view: SavedView): Promise<boolean> {
    const name = toStoredText(view.name)
    const others = sql`SELECT count(*) FROM ${this.#views} WHERE name <> ${name}`
    const saved = await this.#rows.run(
      sql`INSERT INTO ${this.#views} (name, hash) SELECT ${name}, ${toStoredText(view.hash)} WHERE (${others}) < ${maxViews}
        ON CONFLICT (name) DO UPDATE SET hash = excluded.hash RETURNING name`,
    )
    return saved.length > 0
  }

  async remove(name: string): Promise<boolean> {
    const isNamed = sql`name = ${toStoredText(name)}`
    return (await this.#rows.run(sql`DELETE FROM ${this.#views} WHERE ${isNamed} RETURNING name`)).length > 0
  }
}
