import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pause } from '../../http/requester.js'
import type { ResolvedOptions } from '../../options/options.js'
import type { Clock } from '../../runtime/clock.js'
import { Interruption } from '../interruption.js'
import { type Ending, type Status, sayLine } from '../output.js'
import { Progress } from '../progress.js'
import { FollowedLog } from './followed-log.js'
import { type Outlet, openInput, unreadableWords } from './input.js'
import { LineSplitter, type RawLine } from './line-splitter.js'
import type { ShipArguments } from './ship.js'
import { Shipment, shipSummary } from './shipment.js'

export interface ShipPlan {
  readonly options: ResolvedOptions
  /** Where what comes from stdin goes on to. */
  readonly outlet: Outlet | undefined
  readonly ending: Ending
  readonly clock: Clock
}

/** The time after a signal in which the last lines come. */
interface LastLines {
  /** What comes of `work`, or `left` when that time is over first. */
  orSooner<Result>(work: Promise<Result>): Promise<Result | 'left'>
  stop(): void
}

/** After a signal, which the program at the other end of the pipe has mostly got as well, that has so long for its last lines. */
const lastLinesMs = 500
/** How long the end waits for an answer when there is no hope of one. */
const hopelessMs = 1000

/** One run of `sluice ship`: reads the inputs, one after the other or, when they are followed, side by side, and delivers. */
export class ShipRun {
  readonly #files: readonly string[]
  readonly #arguments: ShipArguments
  readonly #plan: ShipPlan
  readonly #shipment: Shipment
  readonly #interruption: Interruption
  /** Why a file was not read to its end. */
  readonly #unread = new Map<string, string>()
  #progress: Progress | undefined

  /** @throws {ConfigError} */
  constructor(written: ShipArguments, plan: ShipPlan) {
    this.#arguments = written
    this.#files = written.files
    this.#plan = plan
    const { options, clock } = plan
    const stops = !written.follow && !written.files.includes('-')
    this.#shipment = new Shipment({ options, clock, stops, say: (text) => this.#say(text) })
    this.#interruption = new Interruption((text) => this.#say(text), 'records')
  }

  get interrupted(): boolean {
    return this.#interruption.signal.aborted
  }

  async run(): Promise<Status> {
    const { ending, options, outlet } = this.#plan
    await this.#showProgress()
    const { signal } = this.#interruption
    try {
      if (this.#arguments.follow) await Promise.all(this.#files.map((file) => this.#follow(file)))
      else for (const file of this.#files) await this.#read(file)
      const hopeless = await this.#shipment.settle(signal)
      this.#progress?.end()
      const ledger = await this.#shipment.close(hopeless === undefined ? options.shutdownTimeoutMs : hopelessMs)
      if (outlet?.failure !== undefined) ending.complain(`stdout: ${outlet.failure}; nothing more was passed on`)
      const cutShort = this.#unread.size > 0 && signal.aborted ? String(signal.reason) : undefined
      const summary = shipSummary(this.#shipment.account, {
        ledger,
        unread: this.#unread,
        stopped: hopeless ?? cutShort,
      })
      if (this.#arguments.json) return ending.summary(summary)
      // On stdout the words would be taken for lines.
      for (const line of summary.lines) sayLine(line)
      return summary.ok ? 0 : 1
    } finally {
      this.#progress?.end()
      this.#interruption.end()
    }
  }

  async #follow(file: string): Promise<void> {
    const { clock } = this.#plan
    const facts = await stat(file).catch(() => undefined)
    if (file === '-' || (facts !== undefined && !facts.isFile())) return await this.#read(file)
    const log = new FollowedLog({
      path: file,
      fromEnd: this.#arguments.fromEnd,
      clock,
      say: (text) => this.#say(`sluice ship: ${text}`),
      take: (line) => this.#take(line),
      signal: this.#interruption.signal,
    })
    await log.run()
  }

  /** One input to its end. */
  async #read(file: string): Promise<void> {
    if (this.interrupted && file !== '-') {
      this.#unread.set(file, 'interrupted')
      return
    }
    try {
      if (file === '-') await this.#readPipe(process.stdin, this.#plan.outlet)
      else {
        const input = await openInput(file)
        // A pipe that is opened like a file is one all the same.
        if ('connecting' in input) await this.#readPipe(input, undefined)
        else await this.#readFile(file, input)
      }
    } catch (error) {
      const words = unreadableWords(error)
      this.#unread.set(file, words)
      this.#say(`sluice ship: ${file}: ${words}`)
    }
  }

  async #readFile(file: string, input: Readable): Promise<void> {
    for await (const line of linesOf(input)) {
      if (!this.interrupted && (await this.#take(line))) continue
      this.#unread.set(file, this.interrupted ? 'interrupted' : 'given up')
      return
    }
  }

  /** To its end, or until a signal and a little more. Whatever was read is taken, in the end whether there is room for it or not. */
  async #readPipe(input: Readable, outlet: Outlet | undefined): Promise<void> {
    if ((input as { isTTY?: boolean }).isTTY) this.#say('sluice ship: reads what you type; Ctrl-D ends it')
    const lastLines = this.#untilLastLines(outlet)
    const splitter = new LineSplitter()
    const take = async (piece: Buffer) => {
      const passed = outlet?.pass(piece)
      for (const line of splitter.push(piece)) {
        if (!(await this.#take(line, { always: true }))) throw new Error('given up')
      }
      await passed
    }
    const pieces = input.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>
    try {
      for (;;) {
        const next = await lastLines.orSooner(pieces.next())
        if (next === 'left' || next.done === true) break
        await take(next.value)
      }
      for (let piece = input.read(); piece !== null; piece = input.read()) await take(piece as Buffer)
      const rest = splitter.end()
      if (rest !== undefined) await this.#take(rest, { always: true })
    } finally {
      lastLines.stop()
      input.on('error', () => {}).destroy()
    }
  }

  /** A little after a signal nobody waits any more: for what comes, for room, for the reader of stdout. */
  #untilLastLines(outlet: Outlet | undefined): LastLines {
    const { signal } = this.#interruption
    const { clock } = this.#plan
    const over = new AbortController()
    let left = false
    let wake = () => {}
    const leave = async () => {
      await pause(clock, { ms: lastLinesMs, signal: over.signal }).catch(() => {})
      this.#shipment.hurry()
      outlet?.abandon()
      left = true
      wake()
    }
    if (signal.aborted) void leave()
    else signal.addEventListener('abort', leave, { once: true, signal: over.signal })
    return {
      // No Promise.race with a promise that outlives it: that holds on to whatever each race has come to.
      orSooner: (work) =>
        new Promise((resolve, reject) => {
          wake = () => resolve('left')
          if (left) wake()
          work.then(resolve, reject)
        }),
      stop: () => over.abort(),
    }
  }

  async #take(line: RawLine, { always = false } = {}): Promise<boolean> {
    const taken = await this.#shipment.take(line, always ? undefined : this.#interruption.signal)
    if (taken) this.#progress?.advance(line.size)
    return taken
  }

  /** On a terminal, where it is in nobody's way. */
  async #showProgress(): Promise<void> {
    const { outlet, clock } = this.#plan
    const { stdin, stdout, stderr } = process
    const pipe = this.#files.includes('-')
    if (!stderr.isTTY || (pipe && stdin.isTTY) || (outlet !== undefined && stdout.isTTY)) return
    const sizes = pipe || this.#arguments.follow ? [] : await Promise.all(this.#files.map(sizeOf))
    const totalBytes = sizes.length === 0 ? undefined : sizes.reduce((sum, size) => sum + size, 0)
    const besides = () => `, ${this.#shipment.underWay} under way`
    this.#progress = new Progress({ screen: stderr, clock, totalBytes, besides })
  }

  #say(text: string): void {
    if (this.#progress === undefined) sayLine(text)
    else this.#progress.say(text)
  }
}

async function* linesOf(input: Readable): AsyncGenerator<RawLine> {
  const splitter = new LineSplitter()
  for await (const piece of input as AsyncIterable<Buffer>) yield* splitter.push(piece)
  const rest = splitter.end()
  if (rest !== undefined) yield rest
}

async function sizeOf(file: string): Promise<number> {
  const facts = await stat(file).catch(() => undefined)
  return facts?.isFile() ? facts.size : 0
}
