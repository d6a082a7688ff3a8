import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { optionTable } from '../options/option-table.js'

/** A folder or a database with the data of a receiver. */
export interface Place {
  readonly data: string
  readonly database?: string | undefined
}

/** The place as messages name it. A folder below the working directory begins with `./`. */
export function placeOf({ data, database }: Place): string {
  if (database !== undefined) return 'the database'
  return isAbsolute(data) || /^\.|^:memory:$/.test(data) ? data : `./${data}`
}

/** The command line that works there, such as `npx sluice-receiver --data other`. A URL has a password: it is not shown. */
export function commandAt({ data, database }: Place, words = ''): string {
  const program = `npx sluice-receiver${words}`
  if (database !== undefined) return process.env.SLUICE_DATABASE === undefined ? `${program} --database URL` : program
  if (data === optionTable.data.default) return program
  return `${program} --data ${/^[\w./:@+-]+$/.test(data) ? data : `'${data.replaceAll("'", "'\\''")}'`}`
}

/** Why a place has no records, if no receiver has run there. A database may have some. */
export function storeFault({ data, database }: Place): string | undefined {
  if (database !== undefined || existsSync(join(data, storeFile))) return undefined
  return existsSync(data) ? 'no receiver has run there' : `there is no such folder: ${data}`
}

/** As `storage/sqlite` names it, which would bring SQLite. */
const storeFile = 'receiver.sqlite'

/** The words for a place where no receiver runs. @param why in a few words; empty where the place says it */
export function noReceiverAt(place: Place, why = ''): string {
  return `no receiver runs on ${placeOf(place)}${why === '' ? '' : ` (${why})`}: start one with ${commandAt(place)}`
}
