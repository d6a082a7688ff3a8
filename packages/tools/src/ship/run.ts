import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { Interruption } from '../../../../src/cli/interruption.js'
import { type Output, type Status, sayLine } from '../../../../src/cli/output.js'
import type { Progress } from '../../../../src/cli/progress.js'
import { droppedTotal } from '../../../../src/delivery/ledger.js'
import { pathFault } from '../../../../src/errors/text-of.js'
import { pause } from '../../../../src/http/requester.js'
import type { ResolvedOptions } from '../../../../src/options/options.js'
import type { Clock } from '../../../../src/runtime/clock.js'
import { type Line, linesOf } from '../line-splitter.js'
import type { FollowState, KnownLog } from './follow-state.js'
import { FollowedLog } from './followed-log.js'
import { type Outlet, openInput, readPipe } from './input.js'
import type { Place } from './open-log.js'
import { Shipment, shipSummary } from './shipment.js'

export interface ShipArguments {
  /** Names of files. `-` is stdin. */
  readonly files: readonly string[]
  readonly follow: boolean
  /** With `follow`: read only what is written from now on. */
  readonly fromEnd: boolean
  /** With `follow`: the file that keeps the places up to which lines are settled. */
  readonly state: string | undefined
  readonly quiet: boolean
  readonly json: boolean
}

export interface ShipPlan {
  readonly options: ResolvedOptions
  /** @default places are not kept */
  readonly state: FollowState | undefined
  /** Where the bytes of stdin go on to. */
  readonly outlet: Outlet | undefined
  readonly output: Output
  readonly clock: Clock
}

/** The end waits this long for answers when the service takes nothing. */
const hopelessMs = 1000
/** Time between two moments at which places are kept. Lines of this time come twice after a kill, with the same idempotency key. */
const keepMs = 1000

/** One run of `sluice-tools ship`. It reads the inputs one after the other, or side by side with `--follow`, and delivers their lines. */
export class ShipRun {
  readonly #arguments: ShipArguments
  readonly #plan: ShipPlan
  readonly #shipment: Shipment
  readonly #interruption: Interruption
  /** Why a file was not read to its end. */
  readonly #unread = new Map<string, string>()
  /** By their absolute paths. */
  readonly #logs = new Map<string, FollowedLog>()
  /** While it is there, no line is taken. */
  #keeping: Promise<void> | undefined
  #hasNews = false
  /** Why places could not be kept. */
  #unkept: string | undefined
  #progress: Progress | undefined

  /** @throws {ConfigError} */
  constructor(given: ShipArguments, plan: ShipPlan) {
    this.#arguments = given
    this.#plan = plan
    const { options, clock, output } = plan
    const say = (text: string) => output.say(text)
    this.#interruption = new Interruption(say, 'records')
    const stops = !given.follow && !given.files.includes('-')
    this.#shipment = new Shipment({ options, clock, stops, say, signal: this.#interruption.signal })
  }

  get interrupted(): boolean {
    return this.#interruption.signal.aborted
  }

  async run(): Promise<Status> {
    const { options, outlet, output, state } = this.#plan
    const { files, follow, json } = this.#arguments
    await this.#showProgress()
    try {
      if (follow) await Promise.all([...files.map((file) => this.#follow(file)), this.#keepPlaces()])
      else for (const file of files) await this.#read(file)
      const hopeless = await this.#shipment.settle()
      output.endProgress()
      const places = state === undefined ? undefined : this.#places()
      const ledger = await this.#shipment.close(hopeless === undefined ? options.shutdownTimeoutMs : hopelessMs)
      if (places !== undefined && droppedTotal(ledger) === 0) await this.#save(places)
      if (outlet?.failure !== undefined) output.complain(`stdout: ${outlet.failure}; nothing more was passed on`)
      const cutShort = this.#unread.size > 0 && this.interrupted ? String(this.#interruption.signal.reason) : undefined
      const end = { ledger, unread: this.#unread, stopped: hopeless ?? cutShort }
      const summary = shipSummary(this.#shipment.account, end)
      if (json) return output.summary(summary)
      // On stdout, the summary would be taken for lines.
      for (const line of summary.lines) if (line !== false) sayLine(line)
      return summary.ok ? 0 : 1
    } finally {
      this.#interruption.end()
    }
  }

  async #follow(file: string): Promise<void> {
    const { clock, output, state } = this.#plan
    const facts = await stat(file).catch(() => undefined)
    if (file === '-' || (facts !== undefined && !facts.isFile())) return await this.#read(file)
    const path = resolve(file)
    const log = new FollowedLog({
      path: file,
      kept: state && {
        before: state.of(path),
        logs: new Set(this.#arguments.files.map((each) => resolve(each))),
        begun: async (places) => await this.#begun(path, places),
      },
      fromEnd: this.#arguments.fromEnd,
      clock,
      say: (text) => output.complain(text),
      take: (line, name) => this.#take(line, { key: state && name }),
      signal: this.#interruption.signal,
    })
    this.#logs.set(path, log)
    await log.run()
  }

  /** Keep the places once in a while, when every record that came before is settled: lines wait for this. */
  async #keepPlaces(): Promise<void> {
    const { clock, state } = this.#plan
    const { signal } = this.#interruption
    while (state !== undefined && !signal.aborted) {
      await pause(clock, { ms: keepMs, signal }).catch(() => {})
      if (!this.#hasNews) continue
      this.#keeping = this.#keepSettled()
      await this.#keeping
      this.#keeping = undefined
    }
  }

  async #keepSettled(): Promise<void> {
    await this.#shipment.settle()
    if (this.#shipment.underWay > 0) return
    this.#hasNews = false
    await this.#save(this.#places())
  }

  /** Keep where contents of a log begin, beside what is settled of it. After a kill, their lines have the same names. */
  async #begun(path: string, begun: readonly Place[]): Promise<void> {
    const { at = Date.now(), places = [] } = this.#plan.state?.of(path) ?? {}
    const generations = new Set(begun.map(({ generation }) => generation))
    const others = places.filter(({ generation }) => !generations.has(generation))
    await this.#save({ [path]: { at, places: [...others, ...begun] } })
  }

  /** The places of now. */
  #places(): Record<string, KnownLog> {
    const at = Date.now()
    return Object.fromEntries([...this.#logs].map(([path, log]) => [path, { at, places: log.places() }]))
  }

  async #save(places: Readonly<Record<string, KnownLog>>): Promise<void> {
    const { state, output } = this.#plan
    try {
      await state?.save(places)
      this.#unkept = undefined
    } catch (error) {
      const { message } = error as Error
      if (message !== this.#unkept)
        output.complain(`--state: cannot be written: ${message}; after a restart, lines come twice`)
      this.#unkept = message
    }
  }

  /** Read one input to its end. */
  async #read(file: string): Promise<void> {
    if (this.interrupted && file !== '-') {
      this.#unread.set(file, 'interrupted')
      return
    }
    try {
      if (file === '-') await this.#readPipe(process.stdin, this.#plan.outlet)
      else {
        const input = await openInput(file)
        // A named pipe is opened as a socket.
        if ('connecting' in input) await this.#readPipe(input, undefined)
        else await this.#readFile(file, input)
      }
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const words =
        code === undefined ? `${file === '-' ? 'stdin' : file}: ${message}` : pathFault(error, { path: file })
      this.#unread.set(file, words)
      this.#plan.output.complain(words)
    }
  }

  async #readFile(file: string, input: Readable): Promise<void> {
    for await (const line of linesOf(input)) {
      if (!this.interrupted && (await this.#take(line))) continue
      this.#unread.set(file, this.interrupted ? 'interrupted' : 'given up')
      return
    }
  }

  async #readPipe(input: Readable, outlet: Outlet | undefined): Promise<void> {
    const { clock, output } = this.#plan
    if ((input as { isTTY?: boolean }).isTTY) output.complain('reads what you type; Ctrl-D or Ctrl-C ends it')
    await readPipe(input, {
      outlet,
      clock,
      signal: this.#interruption.signal,
      take: (line) => this.#take(line, { always: true }),
      hurry: () => this.#shipment.hurry(),
    })
  }

  async #take(
    line: Line,
    how: { readonly always?: boolean; readonly key?: string | undefined } = {},
  ): Promise<boolean> {
    await this.#keeping
    this.#hasNews = true
    const taken = await this.#shipment.take(line, how)
    if (taken) this.#progress?.advance(line.size)
    return taken
  }

  /** On a terminal, unless text of the user or of the pipe appears there. */
  async #showProgress(): Promise<void> {
    const { outlet, clock, output } = this.#plan
    const { files, follow } = this.#arguments
    const { stdin, stdout, stderr } = process
    const pipe = files.includes('-')
    if (!stderr.isTTY || (pipe && stdin.isTTY) || (outlet !== undefined && stdout.isTTY)) return
    const sizes = pipe || follow ? [] : await Promise.all(files.map(sizeOf))
    const totalBytes = sizes.length === 0 ? undefined : sizes.reduce((sum, size) => sum + size, 0)
    const howToEnd = totalBytes === undefined ? '; Ctrl-C ends it' : ''
    const suffix = () => `, ${this.#shipment.underWay} under way${howToEnd}`
    this.#progress = output.showProgress({ clock, totalBytes, suffix })
  }
}

async function sizeOf(file: string): Promise<number> {
  const facts = await stat(file).catch(() => undefined)
  return facts?.isFile() ? facts.size : 0
}
