import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { Interruption } from '../../../../src/cli/interruption.js'
import { type Output, type Status, sayLine } from '../../../../src/cli/output.js'
import type { Progress } from '../../../../src/cli/progress.js'
import { pathFault } from '../../../../src/errors/text-of.js'
import type { ResolvedOptions } from '../../../../src/options/options.js'
import type { Clock } from '../../../../src/runtime/clock.js'
import { type Line, linesOf } from '../line-splitter.js'
import { FollowedLog } from './followed-log.js'
import { type Outlet, openInput, readPipe } from './input.js'
import { Shipment, shipSummary } from './shipment.js'

export interface ShipArguments {
  /** Names of files. `-` is stdin. */
  readonly files: readonly string[]
  readonly follow: boolean
  /** With `follow`: read only what is written from now on. */
  readonly fromEnd: boolean
  readonly quiet: boolean
  readonly json: boolean
}

export interface ShipPlan {
  readonly options: ResolvedOptions
  /** Where the bytes of stdin go on to. */
  readonly outlet: Outlet | undefined
  readonly output: Output
  readonly clock: Clock
}

/** The end waits this long for answers when the service takes nothing. */
const hopelessMs = 1000

/** One run of `sluice-tools ship`. It reads the inputs one after the other, or side by side with `--follow`, and delivers their lines. */
export class ShipRun {
  readonly #arguments: ShipArguments
  readonly #plan: ShipPlan
  readonly #shipment: Shipment
  readonly #interruption: Interruption
  /** Why a file was not read to its end. */
  readonly #unread = new Map<string, string>()
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
    const { options, outlet, output } = this.#plan
    const { files, follow, json } = this.#arguments
    await this.#showProgress()
    try {
      if (follow) await Promise.all(files.map((file) => this.#follow(file)))
      else for (const file of files) await this.#read(file)
      const hopeless = await this.#shipment.settle()
      output.endProgress()
      const ledger = await this.#shipment.close(hopeless === undefined ? options.shutdownTimeoutMs : hopelessMs)
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
    const { clock, output } = this.#plan
    const facts = await stat(file).catch(() => undefined)
    if (file === '-' || (facts !== undefined && !facts.isFile())) return await this.#read(file)
    const log = new FollowedLog({
      path: file,
      fromEnd: this.#arguments.fromEnd,
      clock,
      say: (text) => output.complain(text),
      take: (line) => this.#take(line),
      signal: this.#interruption.signal,
    })
    await log.run()
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

  async #take(line: Line, { always = false } = {}): Promise<boolean> {
    const taken = await this.#shipment.take(line, { always })
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
