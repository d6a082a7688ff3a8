import { droppedTotal, type Ledger } from '../../delivery/ledger.js'
import type { Summary } from '../ending.js'
import { rejectionLines, rejectionList } from '../rejections.js'
import { maxLineBytes } from './line-splitter.js'
import type { ShipmentAccount } from './shipment.js'

export interface ShipEnd {
  readonly ledger: Ledger
  /** Files that were not read to their end, and why. */
  readonly unread: ReadonlyMap<string, string>
  /** Why it ended before its time. */
  readonly stopped: string | undefined
}

/** What a shipment came to. */
export function shipSummary(account: ShipmentAccount, { ledger, unread, stopped }: ShipEnd): Summary {
  const { lines, belowLevel, cut, rejections } = account
  const { delivered, rejected, spooled, adopted, ambiguousRetries } = ledger
  const records = lines - belowLevel
  const dropped = Object.entries(ledger.dropped).filter(([, count]) => count > 0)
  const left = adopted === 0 ? '' : `, ${adopted} more found in the spool`
  const ok = rejected === 0 && dropped.length === 0 && unread.size === 0 && stopped === undefined
  return {
    ok,
    facts: {
      lines,
      records,
      delivered,
      rejected,
      rejections: rejectionList(rejections),
      dropped: Object.fromEntries(dropped),
      spooled,
      adopted,
      belowLevel,
      cut,
      ambiguousRetries,
      unread: [...unread].map(([file, reason]) => ({ file, reason })),
      stopped: stopped ?? null,
    },
    lines: [
      `${delivered} of ${records} records delivered${left}`,
      ...(rejected === 0 ? [] : [`${rejected} rejected:`]),
      ...rejectionLines(rejections),
      ...(dropped.length === 0 ? [] : [`${droppedTotal(ledger)} dropped: ${reasonsOf(dropped)}`]),
      ...(spooled === 0 ? [] : [`${spooled} in the spool: the next process with this spool delivers them`]),
      ...(ambiguousRetries === 0 ? [] : [`${ambiguousRetries} sent again: their answers were lost`]),
      ...(belowLevel === 0 ? [] : [`${belowLevel} left out: below SLUICE_LEVEL`]),
      ...(cut === 0 ? [] : [`${cut} cut: longer than ${maxLineBytes} bytes`]),
      ...(unread.size === 0 ? [] : [`not read to the end: ${[...unread.keys()].join(', ')}`]),
      ...(stopped === undefined ? [] : [`stopped: ${stopped}`]),
    ],
  }
}

function reasonsOf(dropped: readonly (readonly [string, number])[]): string {
  return dropped.map(([reason, count]) => `${count} × ${words[reason] ?? reason}`).join(', ')
}

const words: Readonly<Record<string, string>> = {
  shutdown: 'not delivered before the end',
  'queue-full': 'no room in the queue',
  'spool-full': 'no room in the spool',
  'too-old': 'too old for the spool',
}
