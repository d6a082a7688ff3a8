import { recordTimeMs } from '../../src/storage/records/record-times.js'

export type { RecordPage, StoredLog as LogRecord, StoredValue as ValueRecord } from '../../src/client/stored-record.js'

/** The time of a record, in ms. */
export function timeOf({ timeStamp }: { readonly timeStamp: number }): number {
  return recordTimeMs(timeStamp)
}
