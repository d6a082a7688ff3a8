import { nextStep } from '../../../../src/cli/next-step.js'
import type { Summary } from '../../../../src/cli/output.js'
import { Rejections } from '../../../../src/cli/rejections.js'
import { droppedTotal, type Ledger, settledTotal } from '../../../../src/delivery/ledger.js'
import { Reporter } from '../../../../src/diagnostics/reporter.js'
import { Engine } from '../../../../src/engine/engine.js'
import { RecordWriter } from '../../../../src/engine/record-writer.js'
import { counted } from '../../../../src/errors/counted.js'
import { levelGate } from '../../../../src/loggers/level-gate.js'
import type { ResolvedOptions } from '../../../../src/options/options.js'
import type { Clock, Timer } from '../../../../src/runtime/clock.js'
import { type Line, maxLineBytes, textOfLine } from '../line-splitter.js'
import { LineMapper } from './line-mapper.js'

export interface ShipmentPlan {
  readonly options: ResolvedOptions
  readonly clock: Clock
  readonly say: (text: string) => void
  /** True: stop when the service takes nothing, because the rest of a file is still there. False: wait without end. */
  readonly stops: boolean
  /** The user interrupts. */
  readonly signal: AbortSignal
}

/** The lines that were read, and the answers of the service. */
export interface ShipmentAccount {
  /** Lines that are not empty. */
  lines: number
  /** Lines whose level is below the option `level`. */
  belowLevel: number
  /** Lines longer than {@link maxLineBytes}. Their records hold the beginning. */
  cut: number
  readonly rejections: Rejections
}

/** Time between two looks at the ledger while something waits. */
const lookMs = 500
/** When the service has taken nothing for this long, a message says so. */
const tellAfterMs = 3000
/** When the service has taken nothing for this long, there is no hope. */
const patienceMs = 60_000

/** Takes lines and delivers their records. It takes a line when the queue has room for its record, so that no record is dropped for want of room. */
export class Shipment {
  readonly account: ShipmentAccount = { lines: 0, belowLevel: 0, cut: 0, rejections: new Rejections() }
  readonly #plan: ShipmentPlan
  readonly #engine: Engine
  readonly #mapper: LineMapper
  readonly #passes: ReturnType<typeof levelGate>
  readonly #writer: RecordWriter
  #hurried = false
  /** Why a lane is paused. */
  #paused: string | undefined
  #progressAt: number
  #lookedAt = Number.NEGATIVE_INFINITY
  #settled = 0
  #told = false
  #sleepers: (() => void)[] = []
  #timer: Timer | undefined

  /** @throws {ConfigError} for an unknown value of the option `level` */
  constructor(plan: ShipmentPlan) {
    const { options, clock, say, signal } = plan
    this.#plan = plan
    this.#passes = levelGate(options.level, undefined)
    this.#mapper = new LineMapper(options)
    this.#writer = new RecordWriter(options)
    this.#progressAt = clock.now()
    signal.addEventListener('abort', () => this.#wake(), { once: true })
    this.#engine = new Engine(options, {
      kinds: ['logs'],
      reporter: (warn) =>
        new ShipmentReporter({
          clock,
          warn,
          print: (text) => {
            if (!plan.stops || this.#paused === undefined) say(`sluice: ${text}`)
          },
          listeners: {
            error() {},
            channel: (name, message) => this.#heard(name, message as { readonly reason: string }),
          },
        }),
    })
  }

  /** Records that are taken and not settled. */
  get underWay(): number {
    const { queued, inFlight } = this.#engine.stats()
    return queued + inFlight
  }

  /** From now on no line waits for room. A record without room is dropped and counted. */
  hurry(): void {
    this.#hurried = true
    this.#wake()
  }

  /**
   * Take a line. Resolves when its record has room. False when the line was not taken, because the user interrupted or because there is no
   * hope.
   *
   * @param how `always`: take the line even after an interruption; `key`: the idempotency key of its record
   */
  async take(
    line: Line,
    { always = false, key }: { readonly always?: boolean; readonly key?: string | undefined } = {},
  ): Promise<boolean> {
    const text = shippedText(line)
    if (text.trim() === '') return true
    if (this.#plan.stops && this.#paused !== undefined) return false
    const mapped = this.#mapper.map(text, Date.now())
    if (this.#passes({ number: undefined, severity: mapped.severity })) {
      const bytes = Buffer.byteLength(this.#writer.log(mapped))
      const wait = { bytes, asked: false }
      // Another input may take the room before this line wakes up.
      while (!this.#engine.hasRoom(bytes)) {
        this.#look()
        if ((!always && this.#plan.signal.aborted) || (this.#plan.stops && this.#hopeless !== undefined)) return false
        if (this.#hurried) break
        await this.#change(wait)
      }
      this.#engine.log(mapped, key)
    } else this.account.belowLevel++
    this.account.lines++
    if (line.tooLong) this.account.cut++
    return true
  }

  /** Wait until everything is settled, or until an interruption. Resolves with the reason when there is no hope. */
  async settle(): Promise<string | undefined> {
    const wait = { bytes: everything, asked: false }
    while (!this.#engine.hasRoom(everything)) {
      this.#look()
      if (this.#plan.signal.aborted) return undefined
      if (this.#hopeless !== undefined) return this.#hopeless
      await this.#change(wait)
    }
    return undefined
  }

  /** Deliver what can be delivered within the time, and release everything. */
  close(timeoutMs: number): Promise<Ledger> {
    return this.#engine.close({ timeoutMs })
  }

  /** Resolves when there may be room, at the next {@link #wake}, and after {@link lookMs} at the latest. */
  #change(wait: Wait): Promise<void> {
    if (!wait.asked) {
      wait.asked = true
      void this.#engine.whenRoom(wait.bytes).then(() => {
        wait.asked = false
        this.#wake()
      })
    }
    this.#timer ??= this.#plan.clock.schedule(() => this.#wake(), lookMs, true)
    return new Promise((resolve) => this.#sleepers.push(resolve))
  }

  #wake(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    for (const resolve of this.#sleepers.splice(0)) resolve()
  }

  /** Notice whether the service takes anything. */
  #look(): void {
    const now = this.#plan.clock.now()
    if (now - this.#lookedAt < lookMs) return
    this.#lookedAt = now
    const ledger = this.#engine.stats()
    const { queued, inFlight } = ledger
    const settled = settledTotal(ledger)
    if (settled !== this.#settled || queued + inFlight === 0) {
      this.#settled = settled
      this.#progressAt = now
      this.#told = false
    } else if (!this.#told && this.#paused === undefined && now - this.#progressAt >= tellAfterMs) {
      this.#told = true
      this.#plan.say(`sluice: waits for the service: ${this.#trouble}`)
    }
  }

  /** Why waiting is useless: the user has to correct something first, or the service has taken nothing for a minute. */
  get #hopeless(): string | undefined {
    if (this.#paused !== undefined) return this.#paused
    const stuck = this.#plan.clock.now() - this.#progressAt >= patienceMs
    return stuck ? `the service has taken nothing for ${patienceMs / 1000} s: ${this.#trouble}` : undefined
  }

  get #trouble(): string {
    const reason = this.#engine.stats().lanes[0]?.lastError ?? 'it does not answer'
    return `${reason}; ${nextStep(reason, this.#plan.options.url)}`
  }

  #heard(name: string, { reason }: { readonly reason: string }): void {
    if (name === 'sluice:rejected') this.account.rejections.add(reason)
    if (name === 'sluice:resumed') this.#paused = undefined
    if (name !== 'sluice:paused') return
    this.#paused = reason
    this.#wake()
  }
}

/** The summary reports what was not delivered and why. A silent service is reported earlier, by the shipment. */
class ShipmentReporter extends Reporter {
  override outage(): void {}
  override ended(): void {
    this.tellAll()
  }
}

/** A wait for room. */
interface Wait {
  readonly bytes: number
  /** True while a promise of the engine is pending. */
  asked: boolean
}

/** As long as anything is queued there is no room for a record of this size. */
const everything = Number.POSITIVE_INFINITY

/** The text of a line, without a carriage return at its end. */
export function shippedText(line: Line): string {
  const text = textOfLine(line)
  return !line.tooLong && text.endsWith('\r') ? text.slice(0, -1) : text
}

export interface ShipEnd {
  readonly ledger: Ledger
  /** Files that were not read to their end, with the reason. */
  readonly unread: ReadonlyMap<string, string>
  /** Why the run ended early. */
  readonly stopped: string | undefined
}

/** The result of a run of `sluice-tools ship`. */
export function shipSummary(account: ShipmentAccount, { ledger, unread, stopped }: ShipEnd): Summary {
  const { lines, belowLevel, cut, rejections } = account
  const { delivered, rejected, spooled, adopted, ambiguousRetries } = ledger
  const records = lines - belowLevel
  const dropped = Object.entries(ledger.dropped).filter(([, count]) => count > 0)
  const more = adopted === 0 ? '' : `, ${adopted} more found in the spool`
  return {
    ok: rejected === 0 && dropped.length === 0 && unread.size === 0 && stopped === undefined,
    facts: {
      lines,
      records,
      delivered,
      rejected,
      rejections: rejections.list,
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
      `${delivered} of ${counted(records, 'record')} delivered${more}`,
      rejected > 0 && `${rejected} rejected:`,
      ...rejections.lines,
      dropped.length > 0 && `${droppedTotal(ledger)} dropped: ${reasonsOf(dropped)}`,
      spooled > 0 && `${spooled} in the spool: the next process with this spool delivers them`,
      ambiguousRetries > 0 && `${ambiguousRetries} sent again: their answers were lost`,
      belowLevel > 0 && `${belowLevel} left out: below SLUICE_LEVEL`,
      cut > 0 && `${cut} cut: longer than ${maxLineBytes} bytes`,
      unread.size > 0 && `not read to the end: ${[...unread.keys()].join(', ')}`,
      stopped !== undefined && `stopped: ${stopped}`,
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
