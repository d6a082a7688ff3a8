import type { Severity } from '../records/level.js'
import { ownText } from '../records/plain-fields.js'
import type { Clock, Timer } from '../runtime/clock.js'

/** A log record that is to be sent. */
export interface CompleteLog {
  readonly severity: Severity
  readonly body: string
  readonly redacted: boolean
}

export interface KeptLinesPlan {
  readonly clock: Clock
  /** Most lines for each id. */
  readonly lines: number
  /** How long a line is kept. */
  readonly windowMs: number
  /** Most bytes of memory for all lines. */
  readonly maxBytes: number
  /** Called for each line that is given up. */
  readonly unneeded: () => void
}

/** Memory that a line takes beside its body, and an id beside its lines. */
export const lineBytes = 80
export const idBytes = 160

/** Lines are known by their index. */
interface LinesOfId {
  readonly id: string
  count: number
  oldest: number
  newest: number
}

/**
 * The last lines of each request or trace, until an error of it comes or their time is over. The oldest line goes first when its request has
 * too many, or all together are too large.
 *
 * Lines stand in columns, in the order of their arrival. One that goes leaves a gap; full columns are copied without their gaps.
 */
export class KeptLines {
  readonly #plan: KeptLinesPlan
  readonly #byId = new Map<string, LinesOfId>()
  #columns = new Columns(0)
  /** All before it are gaps. */
  #head = 0
  /** Index of the next line. */
  #end = 0
  #count = 0
  #bytes = 0
  #timer: Timer | undefined

  constructor(plan: KeptLinesPlan) {
    this.#plan = plan
  }

  keep(id: string, { severity, body, redacted }: CompleteLog): void {
    const { clock, lines, maxBytes, windowMs } = this.#plan
    if (this.#end === this.#columns.size) this.#closeGaps()
    const ofId = this.#byId.get(id) ?? this.#newId(id)
    const bytes = memoryOf(body)
    this.#bytes += bytes
    this.#add(ofId, { severity, body, redacted, bytes, until: clock.now() + windowMs })
    if (ofId.count > lines) this.#giveUpOldest(ofId)
    while (this.#bytes > maxBytes) this.#giveUpOldest(this.#first!)
    this.#schedule()
  }

  /** The lines of an id, in the order of their arrival. They are kept no more. */
  take(id: string): CompleteLog[] {
    this.#expire()
    const taken: CompleteLog[] = []
    const ofId = this.#byId.get(id)
    while (ofId !== undefined && ofId.count > 0) taken.push(this.#removeOldest(ofId))
    return taken
  }

  /** Give up all lines. */
  end(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    while (this.#count > 0) this.#giveUpOldest(this.#first!)
  }

  /** The lines of the id to which the oldest line of all belongs: it is the oldest of its id, too. */
  get #first(): LinesOfId | undefined {
    const { owners } = this.#columns
    while (this.#head < this.#end && owners[this.#head] === undefined) this.#head++
    return owners[this.#head]
  }

  #newId(id: string): LinesOfId {
    // The id may be a part of a long line.
    const ofId = { id: ownText(id), count: 0, oldest: 0, newest: 0 }
    this.#byId.set(ofId.id, ofId)
    this.#bytes += memoryOfId(id)
    return ofId
  }

  #add(ofId: LinesOfId, line: KeptLine): void {
    const at = this.#end++
    this.#columns.write(at, ofId, line)
    if (ofId.count === 0) ofId.oldest = at
    else this.#columns.next[ofId.newest] = at
    ofId.newest = at
    ofId.count++
    this.#count++
  }

  #giveUpOldest(ofId: LinesOfId): void {
    this.#removeOldest(ofId)
    this.#plan.unneeded()
  }

  #removeOldest(ofId: LinesOfId): CompleteLog {
    const at = ofId.oldest
    const line = this.#columns.read(at)
    ofId.oldest = this.#columns.next[at]!
    this.#columns.clear(at)
    this.#bytes -= line.bytes
    this.#count--
    if (--ofId.count > 0) return line
    this.#byId.delete(ofId.id)
    this.#bytes -= memoryOfId(ofId.id)
    return line
  }

  /** Half as many lines again find room. So each line is copied twice on average, however many there are. */
  #closeGaps(): void {
    const { owners } = this.#columns
    const before = this.#columns
    const end = this.#end
    for (const ofId of this.#byId.values()) ofId.count = 0
    this.#columns = new Columns(Math.max(fewestLines, Math.ceil(this.#count * 1.5)))
    this.#end = 0
    this.#count = 0
    for (let at = this.#head; at < end; at++) if (owners[at] !== undefined) this.#add(owners[at]!, before.read(at))
    this.#head = 0
  }

  #expire(): void {
    const now = this.#plan.clock.now()
    for (let first = this.#first; first !== undefined; first = this.#first) {
      if (this.#columns.until[first.oldest]! > now) return
      this.#giveUpOldest(first)
    }
  }

  /** One timer for all lines, at the end of the oldest one. */
  #schedule(): void {
    if (this.#timer !== undefined || this.#count === 0) return
    const { clock } = this.#plan
    this.#timer = clock.schedule(() => {
      this.#timer = undefined
      this.#expire()
      this.#schedule()
    }, this.#columns.until[this.#first!.oldest]! - clock.now())
  }
}

const fewestLines = 16

interface KeptLine extends CompleteLog {
  /** The memory that it takes. */
  readonly bytes: number
  /** On the clock. */
  readonly until: number
}

/** What is kept of lines, by their index. No line is an object: it would take twice the memory. */
class Columns {
  readonly size: number
  readonly until: Float64Array
  readonly next: Uint32Array
  readonly owners: (LinesOfId | undefined)[]
  readonly #bodies: string[]
  readonly #bytes: Uint32Array
  readonly #severities: Uint8Array
  readonly #redacted: Uint8Array

  constructor(size: number) {
    this.size = size
    this.until = new Float64Array(size)
    this.next = new Uint32Array(size)
    this.owners = new Array(size)
    this.#bodies = new Array(size)
    this.#bytes = new Uint32Array(size)
    this.#severities = new Uint8Array(size)
    this.#redacted = new Uint8Array(size)
  }

  write(at: number, owner: LinesOfId, { body, severity, redacted, bytes, until }: KeptLine): void {
    this.owners[at] = owner
    this.until[at] = until
    this.#bodies[at] = body
    this.#bytes[at] = bytes
    this.#severities[at] = severity
    this.#redacted[at] = Number(redacted)
  }

  read(at: number): KeptLine {
    return {
      body: this.#bodies[at]!,
      severity: this.#severities[at] as Severity,
      redacted: this.#redacted[at] === 1,
      bytes: this.#bytes[at]!,
      until: this.until[at]!,
    }
  }

  clear(at: number): void {
    this.owners[at] = undefined
    this.#bodies[at] = ''
  }
}

/** V8 has two bytes for each character of most texts that are not ASCII. */
function memoryOf(body: string): number {
  const { length } = body
  return lineBytes + (Buffer.byteLength(body) === length ? length : 2 * length)
}

function memoryOfId(id: string): number {
  return idBytes + 2 * id.length
}
