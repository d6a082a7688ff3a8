import { stat } from 'node:fs/promises'
import { pathFault } from '../../../../src/errors/text-of.js'
import { pause } from '../../../../src/http/requester.js'
import type { Clock } from '../../../../src/runtime/clock.js'
import type { Line } from '../line-splitter.js'
import type { KnownLog } from './follow-state.js'
import { factsOf } from './input.js'
import { identityOf, OpenLog, type Place } from './open-log.js'
import { type RotatedLog, rotatedLogs } from './rotated-logs.js'

interface KeptPlaces {
  readonly before: KnownLog | undefined
  /** All logs that are followed, by their absolute paths. */
  readonly logs: ReadonlySet<string>
  /** Called before the first line of a content is taken, with where that begins. What was known before stays known. */
  readonly begun: (places: readonly Place[]) => Promise<void>
}

export interface FollowPlan {
  readonly path: string
  /** Begin at the end of the file that exists now. */
  readonly fromEnd: boolean
  /** How the places of the log are kept for the next process. @default they are not */
  readonly kept?: KeptPlaces | undefined
  readonly clock: Clock
  readonly say: (text: string) => void
  /** Take a line, which has a name of its own. False when it was not taken. */
  readonly take: (line: Line, name: string) => Promise<boolean>
  /** Ends the following. */
  readonly signal: AbortSignal
}

/** Time between two looks for new lines. */
const lookMs = 250
/** A program may write to a log for a while after a rename. The file is closed this long after its last line. */
const lingerMs = 5000
/** A log may get another file between the last look and the moment at which its places were kept. */
const marginMs = 10_000
/** The most files that have lost the name of a log and are known. */
const maxFormer = 100

/**
 * Reads a log as it grows. When another file takes its name, it reads both: the rest of the old file and the new one. When the file is
 * truncated, it begins again at the start. It waits for the rest of an unfinished line, and for a missing file.
 */
export class FollowedLog {
  readonly #plan: FollowPlan
  #log: OpenLog | undefined
  /** Files that have lost the name. */
  readonly #former = new Map<OpenLog, { lastAt: number }>()
  /** Places in files that have lost the name and are read, or were there before. */
  #read: Place[] = []
  #trouble: string | undefined
  #first = true

  constructor(plan: FollowPlan) {
    this.#plan = plan
  }

  /** The places up to which lines were taken when this is called: the next process goes on there. */
  places(): Place[] {
    return [...this.#read, ...this.#open().map((log) => log.place())]
  }

  /** Resolves after `signal`. Never rejects. */
  async run(): Promise<void> {
    const { clock, signal, kept } = this.#plan
    while (!signal.aborted) {
      await this.#look().catch((error) => this.#report(pathFault(error, this.#plan)))
      await pause(clock, { ms: lookMs, signal }).catch(() => {})
    }
    // The next process takes the rest of an unfinished line.
    if (kept === undefined) for (const log of this.#open()) await this.#finish(log)
  }

  async #look(): Promise<void> {
    const { path, clock, kept } = this.#plan
    const facts = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      return undefined
    })
    const identity = facts === undefined ? undefined : identityOf(facts)
    if (this.#first && kept !== undefined) await this.#resume(kept, identity)
    if (this.#log !== undefined && identity !== this.#log.identity) {
      this.#former.set(this.#log, { lastAt: clock.now() })
      this.#log = undefined
    }
    if (this.#log === undefined && identity !== undefined) {
      const back = [...this.#former.keys()].find((log) => log.identity === identity)
      if (back === undefined) await factsOf(path)
      else this.#former.delete(back)
      this.#log = back ?? (await OpenLog.open(path, this.#startsOf(identity)))
      if (back === undefined && !this.#first) await kept?.begun([this.#log.place()])
      if (this.#trouble !== undefined) this.#plan.say(`${path}: is there now`)
      this.#trouble = undefined
    } else if (identity === undefined && this.#first) this.#report(`there is no such file yet: ${path}`)
    if (this.#first) await kept?.begun(this.places())
    this.#first = false
    for (const log of this.#open()) await this.#readOn(log)
  }

  /** Where to begin in the file that has the name. */
  #startsOf(identity: string): 'end' | readonly Place[] {
    if (!this.#first) return []
    const { fromEnd, kept } = this.#plan
    if (kept?.before === undefined) return fromEnd ? 'end' : []
    return placesIn(kept.before, identity)
  }

  /** Open the files that have lost the name while nobody followed the log. */
  async #resume({ before, logs }: KeptPlaces, identity: string | undefined): Promise<void> {
    const rotated = await rotatedLogs(this.#plan.path, logs)
    for (const file of rotated) {
      const log = await this.#reopened(file, { before, identity })
      if (log !== undefined) this.#former.set(log, { lastAt: this.#plan.clock.now() })
    }
    const isLost = ({ identity: known }: Place) =>
      known !== identity && !rotated.some((file) => file.identity === known)
    await this.#leaveRotated(logs)
    const last = before?.places.at(-1)
    if (last === undefined || !isLost(last)) return
    this.#plan.say(
      `${this.#plan.path}: the file that was followed before is gone; lines that it got since then are lost`,
    )
  }

  async #reopened(
    { path, changedAt, isCompressed, identity: own }: RotatedLog,
    { before, identity }: { readonly before: KnownLog | undefined; readonly identity: string | undefined },
  ): Promise<OpenLog | undefined> {
    const places = placesIn(before, own)
    const isNew = before !== undefined && places.length === 0 && changedAt >= before.at - marginMs
    if (isCompressed) {
      if (isNew) this.#plan.say(`${path}: is compressed; lines that nobody has read before are lost`)
      return undefined
    }
    if (!isNew) return places.length === 0 ? undefined : await OpenLog.open(path, places)
    // `copytruncate` copies the file, and empties it: the copy has what was read before.
    const originals = placesIn(before, identity).filter(({ position }) => position > 0)
    return await OpenLog.open(path, originals)
  }

  /** Files beside the log that are not followed now have nothing new for the next process. */
  async #leaveRotated(logs: ReadonlySet<string>): Promise<void> {
    const known = new Set([...this.#open(), ...this.#read].map(({ identity }) => identity))
    for (const { path, identity } of await rotatedLogs(this.#plan.path, logs)) {
      if (!known.has(identity)) await this.#leave(await OpenLog.open(path, 'end'))
    }
  }

  /** Open files, the oldest first. */
  #open(): OpenLog[] {
    return [...this.#former.keys(), ...(this.#log === undefined ? [] : [this.#log])]
  }

  async #readOn(log: OpenLog): Promise<void> {
    const { clock, take, signal } = this.#plan
    const former = this.#former.get(log)
    for await (const line of log.lines()) {
      if (former !== undefined) former.lastAt = clock.now()
      if (log.wasTruncated) await this.#begunAgain(log)
      if (signal.aborted || !(await take(line, log.nameOf(line)))) return
      log.took(line)
    }
    if (log.wasTruncated) await this.#begunAgain(log)
    if (former !== undefined && clock.now() - former.lastAt >= lingerMs) await this.#finish(log)
  }

  async #begunAgain(log: OpenLog): Promise<void> {
    const { kept } = this.#plan
    log.wasTruncated = false
    await kept?.begun([log.place()])
    // `copytruncate` has made a copy of what was read.
    if (kept !== undefined) await this.#leaveRotated(kept.logs)
  }

  async #finish(log: OpenLog): Promise<void> {
    this.#former.delete(log)
    const rest = log.rest()
    if (rest !== undefined && (await this.#plan.take(rest, log.nameOf(rest)))) log.took(rest)
    await this.#leave(log)
  }

  /** A file that is not read any more is known, or the next process would take it for a new one. */
  async #leave(log: OpenLog): Promise<void> {
    if (this.#plan.kept !== undefined) this.#read = [...this.#read, log.place()].slice(-maxFormer)
    await log.close()
  }

  /** Print the same trouble once. */
  #report(trouble: string): void {
    if (this.#trouble !== trouble) this.#plan.say(`${trouble}; waits for it`)
    this.#trouble = trouble
  }
}

/** The places that are known of a file. Those come first whose content can be proved: nothing is known of one that begins. */
function placesIn(known: KnownLog | undefined, identity: string | undefined): readonly Place[] {
  const places = known?.places.filter((place) => place.identity === identity) ?? []
  return places.sort((a, b) => b.position - a.position)
}
