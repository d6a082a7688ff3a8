import { droppedTotal, type Ledger } from '../../delivery/ledger.js'
import { Engine } from '../../engine/engine.js'
import { RecordWriter } from '../../engine/record-writer.js'
import { pause } from '../../http/requester.js'
import { levelGate } from '../../loggers/pino-logger.js'
import type { ResolvedOptions } from '../../options/options.js'
import { logHead } from '../../records/encode.js'
import type { Clock } from '../../runtime/clock.js'
import type { Summary } from '../output.js'
import { rejectionLines, rejectionList } from '../rejections.js'
import { LineMapper } from './line-mapper.js'
import { maxLineBytes, type RawLine } from './line-splitter.js'

export interface ShipmentPlan {
  readonly options: ResolvedOptions
  readonly clock: Clock
  /** Says what somebody should know, on a line of its own. */
  readonly say: (text: string) => void
  /** Where the service takes nothing, stop: what is not taken from a file is still there. Else wait, however long. */
  readonly stops: boolean
}

/** What was read, and what the service said. */
export interface ShipmentAccount {
  /** Lines that were read, empty ones aside. */
  lines: number
  /** Of these: less severe than the option `level`. */
  belowLevel: number
  /** Of these: longer than a line may be; what is beyond is not in the record. */
  cut: number
  /** By what the service said of the record. */
  readonly rejections: Map<string, number>
}

const lookMs = 5
/** The service has taken nothing for so long: it is told, and, where nobody feeds the input, given up. */
const tellAfterMs = 3000
export const patienceMs = 60_000

/**
 * Takes lines and delivers their records. It takes a line when there is room for its record and not before, so that nothing is given up
 * for want of room: whoever reads waits.
 */
export class Shipment {
  readonly account: ShipmentAccount = { lines: 0, belowLevel: 0, cut: 0, rejections: new Map() }
  readonly #plan: ShipmentPlan
  readonly #engine: Engine
  readonly #mapper: LineMapper
  readonly #passes: ReturnType<typeof levelGate>
  readonly #writer: RecordWriter
  readonly #tailBytes: number
  #hurried = false
  #room = { records: 0, bytes: 0 }
  #paused: string | undefined
  #progressAt: number
  #settled = 0
  #told = false

  /** @throws {ConfigError} for an option `level` that nobody knows */
  constructor(plan: ShipmentPlan) {
    const { options, clock, say } = plan
    this.#plan = plan
    this.#passes = levelGate(options.level, undefined)
    this.#mapper = new LineMapper(options)
    this.#writer = new RecordWriter(options)
    this.#tailBytes = Buffer.byteLength(this.#writer.completeLog(''))
    this.#progressAt = clock.now()
    this.#engine = new Engine(options, {
      kinds: ['logs'],
      // The end tells what was not delivered, and why nothing could be; of a service that takes nothing it is told sooner.
      elsewhere: ['shutdown', 'outage'],
      print: (text) => {
        if (!plan.stops || this.#paused === undefined) say(`sluice: ${text}`)
      },
      listeners: { error() {}, channel: (name, message) => this.#heard(name, message as { readonly reason: string }) },
    })
  }

  /** Why there is no use in waiting: somebody has to mend something, or the service has taken nothing for a minute. */
  get hopeless(): string | undefined {
    if (this.#paused !== undefined) return this.#paused
    const stuck = this.#clock.now() - this.#progressAt >= patienceMs
    return stuck ? `the service has taken nothing for ${patienceMs / 1000} s: ${this.#trouble}` : undefined
  }

  /** Records that are taken and not settled. */
  get underWay(): number {
    const { queued, inFlight } = this.#engine.stats()
    return queued + inFlight
  }

  /** From now on nobody waits for room: what is taken has its chance, and what there is no room for is counted. */
  hurry(): void {
    this.#hurried = true
  }

  /**
   * Take a line; resolves when there is room for its record. False when it was not taken: `signal` came first, or there is no use in
   * waiting.
   */
  async take({ bytes, cut }: RawLine, signal?: AbortSignal): Promise<boolean> {
    const text = bytes.toString('utf8')
    if (text.trim() === '') return true
    if (this.#plan.stops && this.#paused !== undefined) return false
    const mapped = this.#mapper.map(text, Date.now())
    const passes = this.#passes({ number: undefined, severity: mapped.severity })
    if (passes) {
      const head = logHead(mapped.fields)
      if (!(await this.#makeRoom(Buffer.byteLength(head) + this.#tailBytes, signal))) return false
      this.#engine.logHead(mapped.severity, head)
    } else this.account.belowLevel++
    this.account.lines++
    if (cut) this.account.cut++
    return true
  }

  /** Wait until everything is settled; why it was given up, if it was. Nobody feeds the input any more. */
  async settle(signal: AbortSignal): Promise<string | undefined> {
    for (;;) {
      const { queued, inFlight } = this.#look()
      if (queued + inFlight === 0 || signal.aborted) return undefined
      const reason = this.hopeless
      if (reason !== undefined) return reason
      await this.#pause()
    }
  }

  /** Deliver what can be delivered within the time, and release everything. */
  close(timeoutMs: number): Promise<Ledger> {
    return this.#engine.close({ timeoutMs })
  }

  async #makeRoom(bytes: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#room.records < 1 || this.#room.bytes < bytes) {
      while (!this.#hasRoom(bytes)) {
        if (signal?.aborted || (this.#plan.stops && this.hopeless !== undefined)) return false
        if (this.#hurried) break
        await this.#pause()
      }
    }
    this.#room.records--
    this.#room.bytes -= bytes
    return true
  }

  #hasRoom(bytes: number): boolean {
    const { maxQueueRecords, maxQueueBytes } = this.#plan.options
    const { queued, inFlight, heldBytes } = this.#look()
    this.#room = { records: maxQueueRecords - queued - inFlight, bytes: maxQueueBytes - heldBytes }
    // What is larger than all the room there is would wait for ever.
    return queued + inFlight === 0 || (this.#room.records >= 1 && this.#room.bytes >= bytes)
  }

  /** The ledger now; whether the service takes anything is noticed here. */
  #look(): Ledger {
    const ledger = this.#engine.stats()
    const { delivered, rejected, queued, inFlight } = ledger
    const settled = delivered + rejected + droppedTotal(ledger)
    const now = this.#clock.now()
    if (settled !== this.#settled || queued + inFlight === 0) {
      this.#settled = settled
      this.#progressAt = now
      this.#told = false
    } else if (!this.#told && this.#paused === undefined && now - this.#progressAt >= tellAfterMs) {
      this.#told = true
      this.#plan.say(`sluice: waits for the service: ${this.#trouble}`)
    }
    return ledger
  }

  get #trouble(): string {
    return this.#engine.stats().lanes[0]?.lastError ?? 'it does not answer'
  }

  #heard(name: string, { reason }: { readonly reason: string }): void {
    if (name === 'sluice:paused') this.#paused = reason
    if (name === 'sluice:resumed') this.#paused = undefined
    if (name !== 'sluice:rejected') return
    const { rejections } = this.account
    // Reasons may quote the record: what is not remembered is in the ledger all the same.
    const known = rejections.has(reason) || rejections.size < maxReasons ? reason : otherReasons
    rejections.set(known, (rejections.get(known) ?? 0) + 1)
  }

  /** So short that no signal need end it. */
  #pause(): Promise<void> {
    return pause(this.#clock, { ms: lookMs })
  }

  get #clock(): Clock {
    return this.#plan.clock
  }
}

const maxReasons = 20
const otherReasons = 'for other reasons'

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
