import type { Receipts } from '../record-storage.js'
import { firstIdOf, msOfId } from './record-ids.js'
import type { Servers } from './servers.js'

/** When the record that was received first was received, in ms since 1970. */
export async function oldestReceipt(servers: Servers): Promise<number | undefined> {
  const [row] = await servers.read<{ id: number | null }>(
    'SELECT min(first_id) AS id FROM sluice_spans WHERE step_ms = 3600000',
  )
  return row?.id == null ? undefined : msOfId(row.id)
}

/** The receipts next to a time, as far as the spans tell: within one span only its first and last record are known. */
export async function receiptsAround(servers: Servers, ms: number): Promise<Receipts> {
  const [row] = await servers.read<{ before: number | null; since: number | null }>(
    `SELECT max(CASE WHEN last_id < $1 THEN last_id WHEN first_id < $1 THEN first_id END) AS before,
       min(CASE WHEN first_id >= $1 THEN first_id WHEN last_id >= $1 THEN last_id END) AS since
     FROM sluice_spans WHERE step_ms = 3600000`,
    [firstIdOf(ms)],
  )
  return {
    before: row?.before == null ? undefined : msOfId(row.before),
    since: row?.since == null ? undefined : msOfId(row.since),
  }
}
