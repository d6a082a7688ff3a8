import { writeSync } from 'node:fs'
import { droppedTotal, type Ledger, suppressedTotal } from '../delivery/ledger.js'
import { oneLine } from '../errors/text-of.js'

/** At most one line for each cause in this time. */
export const stderrQuietMs = 60_000

/** Write one line to stderr, also in a worker that ends. Never throws. */
export function printLine(text: string): void {
  try {
    writeSync(2, `sluice: ${oneLine(text)}\n`)
  } catch {
    // stderr is closed: there is no other place to write to.
  }
}

/** The ledger as the text of one line. */
export function ledgerLine(ledger: Ledger): string {
  const { accepted, delivered, rejected, spooled, queued, inFlight, adopted, ambiguousRetries } = ledger
  const balance = { accepted, delivered, rejected, dropped: droppedTotal(ledger), spooled, queued, inFlight }
  const counts = { ...balance, adopted, ambiguous: ambiguousRetries, suppressed: suppressedTotal(ledger) }
  const words = Object.entries(counts).map(([name, count]) => `${name}=${count}`)
  return `ledger ${words.join(' ')}`
}

/** The last error, as the end of a line. */
export function lastErrorText(lastError: string | undefined): string {
  return lastError === undefined ? '' : `; last error: ${lastError}`
}
