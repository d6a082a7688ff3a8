import { type Clock, systemClock } from '../runtime/clock.js'
import { processNow } from '../runtime/shared-state.js'
import { type Bell, type BellMaker, sharedBell } from './bell.js'

const modes = ['flush', 'park', 'close'] as const
/** `flush`: send what waits. `park`: the process may end next, so say what is held back, and leave the rest to the spool. `close`: for good. */
export type DrainMode = (typeof modes)[number]

/** A drain, as somebody asks for it. */
export interface Asked {
  readonly mode: DrainMode
  /** On the clock that all threads share, in milliseconds. */
  readonly until: number
  /** True where a service is not waited for at whose address nothing has ever listened. @default false */
  readonly brief?: boolean | undefined
  /** Records that the engine must have taken before. @default none */
  readonly after?: number
}

/** The same, as its engine gets it. */
export interface Ask extends Required<Asked> {
  readonly number: number
  readonly brief: boolean
}

/** The time that the engine has for it. */
export function timeFor({ until, brief }: Ask, now: number): { readonly timeoutMs: number; readonly brief: boolean } {
  return { timeoutMs: Math.max(0, until - now), brief }
}

/** The surroundings of a thread. */
export interface ControlPorts {
  readonly clock: Pick<Clock, 'schedule'>
  /** The clock that all threads share. */
  readonly processNow: () => number
  readonly bell: BellMaker
}

const systemPorts: ControlPorts = { clock: systemClock, processNow, bell: sharedBell }

/** Int32 words. A later version only appends to them: `words` says how many there are. The ledger has those from `sequence` to `invalid`. */
export const word = {
  version: 0,
  words: 1,
  sequence: 2,
  shown: 3,
  invalid: 4,
  asks: 6,
  answers: 7,
  tickets: 8,
  teller: 9,
  endBeganAt: 10,
  retired: 12,
} as const
const knownWords = 13
const firstSlotByte = 64
const slots = 16
const slotBytes = 32
/** In a slot, Int32 words and two Float64. */
const slot = { number: 0, how: 1, answered: 2, until: 2, after: 3 } as const
const briefFlag = 4
/** Who tells what the engine loses at the end: the first that says so. */
const teller = { nobody: 0, main: 1, itself: 2 } as const
const version = 1
/** So long after its deadline nobody waits for a drain any more. */
const askedInVainMs = 1000

/** Bytes of the control block, before the rows of the ledger. */
export const controlBytes = firstSlotByte + slots * slotBytes

/**
 * What threads say to an engine and hear from it, in the memory before its ledger. A drain is a number: any thread asks, and the engine answers
 * it. Sixteen drains may be open at a time. One that is overwritten by a later one is never answered: its asker gives up at its own deadline.
 */
export class ControlBlock {
  readonly #words: Int32Array
  readonly #endBeganAt: Float64Array
  readonly #ports: ControlPorts
  readonly #asks: Bell
  readonly #answers: Bell

  constructor(memory: SharedArrayBuffer, ports: ControlPorts = systemPorts) {
    this.#ports = ports
    this.#words = new Int32Array(memory, 0, controlBytes / 4)
    this.#endBeganAt = new Float64Array(memory, 4 * word.endBeganAt, 1)
    this.#asks = ports.bell(this.#words, word.asks)
    this.#answers = ports.bell(this.#words, word.answers)
  }

  /** The block of an engine, perhaps of another copy of this package. Undefined for a version that this copy does not know. */
  static open(memory: SharedArrayBuffer): ControlBlock | undefined {
    const isKnown = memory.byteLength >= controlBytes && new Int32Array(memory, 0, 1)[word.version] === version
    return isKnown ? new ControlBlock(memory) : undefined
  }

  /** Memory for a block, with `bytes` bytes behind it. */
  static memory(bytes = 0): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(controlBytes + bytes)
    new Int32Array(memory).set([version, knownWords])
    return memory
  }

  /** When the end of the process began, in milliseconds on the clock that all threads share; undefined before. */
  get endBeganAt(): number | undefined {
    return this.#endBeganAt[0] || undefined
  }

  endBegan(at: number): void {
    this.#endBeganAt[0] = at
  }

  /** The main thread tells what this engine loses at the end, unless its own thread has begun to. */
  tellByMain(): void {
    Atomics.compareExchange(this.#words, word.teller, teller.nobody, teller.main)
  }

  /** The engine's side: it has lost records at the end. @returns true where the main thread tells them; else its own has to, from now on */
  leaveToMain(): boolean {
    return Atomics.compareExchange(this.#words, word.teller, teller.nobody, teller.itself) === teller.main
  }

  /** True once the engine's own thread tells its losses. The main thread cannot reach one that starts while it is held. */
  get isToldByItself(): boolean {
    return Atomics.load(this.#words, word.teller) === teller.itself
  }

  /** Ask the engine for a drain. @returns its number */
  ask({ mode, until, brief = false, after = 0 }: Asked): number {
    const number = this.#ticket()
    const { ints, floats } = this.#slot(number)
    // Whoever reads the slot meanwhile finds no drain in it.
    Atomics.store(ints, slot.number, 0)
    floats[slot.until] = until
    floats[slot.after] = after
    ints[slot.how] = modes.indexOf(mode) | (brief ? briefFlag : 0)
    Atomics.store(ints, slot.number, number)
    this.#asks.ring()
    return number
  }

  isAnswered(drain: number): boolean {
    return Atomics.load(this.#slot(drain).ints, slot.answered) === drain || this.#isRetired
  }

  /** Resolves when the drain is answered, or `until` is over. `holdsProcess`: nothing else keeps the process alive. */
  whenAnswered(drain: number, until: number, holdsProcess = false): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        stop()
        timer.cancel()
        resolve()
      }
      const look = () => this.isAnswered(drain) && settle()
      const stop = this.#answers.heard(look)
      const timer = this.#ports.clock.schedule(settle, until - this.#ports.processNow(), holdsProcess)
      look()
    })
  }

  /** Hold this thread until the drain is answered, for `waitMs` at most. */
  waitAnswered(drain: number, waitMs: number): boolean {
    return this.#answers.wait(() => this.isAnswered(drain), waitMs)
  }

  /** The engine's side: call `drain` for each ask from now on, and for those that no engine before it has answered. @returns stops that */
  whenAsked(drain: (ask: Ask) => void): () => void {
    const begun = new Set<number>()
    const look = () => {
      const open = this.#open()
      for (const number of begun) if (!open.some((ask) => ask.number === number)) begun.delete(number)
      for (const ask of open) {
        if (begun.has(ask.number)) continue
        begun.add(ask.number)
        drain(ask)
      }
    }
    const stop = this.#asks.heard(look)
    look()
    return stop
  }

  answer(drain: number): void {
    const { ints } = this.#slot(drain)
    if (Atomics.load(ints, slot.number) === drain) Atomics.store(ints, slot.answered, drain)
    this.#answers.ring()
  }

  /** The engine is gone: all that was asked for is answered, and whatever anybody asks for from now on. At an exit a thread may hear no message of it. */
  retire(): void {
    Atomics.store(this.#words, word.retired, 1)
    this.#answers.ring()
  }

  get #isRetired(): boolean {
    return Atomics.load(this.#words, word.retired) === 1
  }

  /** The number of a drain whose slot is free; where none is, of one that overwrites the oldest. */
  #ticket(): number {
    const next = () => Atomics.add(this.#words, word.tickets, 1) + 1
    const first = next()
    for (let number = first, left = slots; left > 0; number = next(), left--) if (this.#isFree(number)) return number
    return first
  }

  #isFree(number: number): boolean {
    const { ints, floats } = this.#slot(number)
    const present = Atomics.load(ints, slot.number)
    if (present === 0 || present === Atomics.load(ints, slot.answered)) return true
    return floats[slot.until]! + askedInVainMs < this.#ports.processNow()
  }

  /** Drains that are not answered. */
  #open(): Ask[] {
    const open: Ask[] = []
    for (let place = 0; place < slots; place++) {
      const { ints, floats } = this.#slot(place)
      const number = Atomics.load(ints, slot.number)
      if (number === 0 || number === Atomics.load(ints, slot.answered)) continue
      const how = ints[slot.how]!
      const until = floats[slot.until]!
      const after = floats[slot.after]!
      if (Atomics.load(ints, slot.number) !== number) continue
      open.push({ number, mode: modes[how & 3]!, until, after, brief: (how & briefFlag) > 0 })
    }
    return open.sort((a, b) => a.number - b.number)
  }

  #slot(number: number): { readonly ints: Int32Array; readonly floats: Float64Array } {
    const at = firstSlotByte + (number % slots) * slotBytes
    const { buffer } = this.#words
    return { ints: new Int32Array(buffer, at, 4), floats: new Float64Array(buffer, at, 4) }
  }
}
