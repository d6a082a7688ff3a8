import { acknowledgementsOf } from '../../src/spool/acknowledgements.js'
import { scanLines } from '../../src/spool/line-scanner.js'
import { readSpoolLine, withoutChecksum } from '../../src/spool/spool-line.js'
import type { SimulatedDisk } from './disk/simulated-disk.js'

/** A value record's event is this and its id. */
export const firstEvent = 1_000_000

/** The id of the record in a body, as {@link SimulatedProcess} writes it; undefined for a record of Sluice's own. */
export function idOfBody(body: string): number | undefined {
  const message = /r#(\d+)/.exec(body)?.[1]
  if (message !== undefined) return Number(message)
  const event = /"eventId":(\d+)/.exec(body)?.[1]
  return event === undefined ? undefined : Number(event) - firstEvent
}

/** The files of records in a spool, except dead letters. */
export function recordFilesIn(disk: SimulatedDisk, folder: string): string[] {
  return disk.filesIn(folder).filter((path) => path.endsWith('.ndjson') && !path.includes('/dead-letter/'))
}

/** The ids of all records that a spool has in whole lines. */
export function spooledIds(disk: SimulatedDisk, folder: string): Set<number> {
  const ids = new Set<number>()
  for (const path of recordFilesIn(disk, folder)) {
    for (const { id } of recordsIn(disk, path)) ids.add(id)
  }
  return ids
}

/** The ids of all records of a spool that an acknowledgement beside their file names. */
export function acknowledgedIds(disk: SimulatedDisk, folder: string): Set<number> {
  const ids = new Set<number>()
  for (const path of recordFilesIn(disk, folder)) {
    const numbers = new Set<number>()
    for (const line of linesIn(disk.read(acknowledgementsOf(path)), withoutChecksum)) {
      const ranges = /^"settled":"([\d,-]+)"\}$/.exec(line)?.[1] ?? ''
      for (const range of ranges.split(',').filter((each) => each !== '')) {
        const [from = 0, to = from] = range.split('-').map(Number)
        for (let number = from; number <= to; number++) numbers.add(number)
      }
    }
    if (numbers.size === 0) continue
    for (const { id, number } of recordsIn(disk, path)) if (numbers.has(number)) ids.add(id)
  }
  return ids
}

function* recordsIn(disk: SimulatedDisk, path: string): Generator<{ readonly id: number; readonly number: number }> {
  for (const line of linesIn(disk.read(path), readSpoolLine)) {
    const id = idOfBody(line.body)
    if (id !== undefined) yield { id, number: line.number }
  }
}

/** The whole lines of a file, also those in damaged ones. */
function linesIn<Line>(bytes: Buffer = Buffer.alloc(0), read: (line: Buffer) => Line | undefined): Line[] {
  return scanLines(bytes, read).lines.map(({ line }) => line)
}
