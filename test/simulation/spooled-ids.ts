import { readSpoolLine } from '../../src/spool/spool-line.js'
import type { SimulatedDisk } from './disk/simulated-disk.js'

/** A value record's event is this and its id. */
export const firstEvent = 1_000_000
const lineFeed = 10

/** The id of the record in a body, as {@link SimulatedProcess} writes it; undefined for a record of Sluice's own. */
export function idOfBody(body: string): number | undefined {
  const message = /r#(\d+)/.exec(body)?.[1]
  if (message !== undefined) return Number(message)
  const event = /"eventId":(\d+)/.exec(body)?.[1]
  return event === undefined ? undefined : Number(event) - firstEvent
}

/** The segments of a spool: files of records, except dead letters. */
export function segmentsIn(disk: SimulatedDisk, folder: string): string[] {
  return disk.filesIn(folder).filter((path) => path.endsWith('.ndjson') && !path.includes('/dead-letter/'))
}

/** The ids of all records that a spool has in whole lines. */
export function spooledIds(disk: SimulatedDisk, folder: string): Set<number> {
  const ids = new Set<number>()
  for (const path of segmentsIn(disk, folder)) {
    const bytes = disk.read(path) ?? Buffer.alloc(0)
    for (
      let start = 0, end = bytes.indexOf(lineFeed);
      end !== -1;
      start = end + 1, end = bytes.indexOf(lineFeed, start)
    ) {
      const id = idOfBody(readSpoolLine(bytes.subarray(start, end))?.body ?? '')
      if (id !== undefined) ids.add(id)
    }
  }
  return ids
}
