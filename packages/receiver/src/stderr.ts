import { oneLine } from '../../../src/errors/text-of.js'

/** Print one line on stderr. Words of requests, of records and of a database in it must not steer a terminal, nor begin a line. */
export function say(text: string): void {
  const { stderr } = process
  // A write that fails, for nobody reads or the disk is full, ends a process that does not listen.
  stderr.once('error', ignore)
  stderr.write(`sluice-receiver: ${oneLine(text)}\n`, (error) => {
    if (error == null) stderr.off('error', ignore)
  })
}

function ignore(): void {}

let lost = 0

/** Go on where a write to stdout or stderr fails, for the disk is full or the reader has gone. Such a write is counted. */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', writeFailed)
}

/** Counts a failed write. */
export function writeFailed(): void {
  lost++
}

/** The number of failed writes. */
export function failedWrites(): number {
  return lost
}
