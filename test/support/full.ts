/** True in `npm run test:full`, which runs every row of every matrix, more seeds, and what takes long. */
export const full = process.env.FULL !== undefined

/** All rows in `npm run test:full`; in `npm test` the chosen ones, which stand for the others. */
export function rowsOf<Row>(all: readonly Row[], chosen: (row: Row) => boolean): Row[] {
  return full ? [...all] : all.filter(chosen)
}
