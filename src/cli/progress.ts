import { counted } from '../errors/counted.js'
import { oneLine } from '../errors/text-of.js'
import type { Clock, Timer } from '../runtime/clock.js'

/** The place where progress is shown: stderr. */
export interface Screen {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
}

export interface ProgressPlan {
  readonly screen: Screen
  readonly clock: Clock
  /** The size of all files. Undefined when the end of the input is not known. */
  readonly totalBytes: number | undefined
  /** More text for the end of the line. @default none */
  readonly suffix?: () => string
}

/** The work that was done at a moment. */
interface Sample {
  readonly atMs: number
  readonly lines: number
  readonly bytes: number
}

/** The bar on a terminal is redrawn this often. */
const barEveryMs = 200
/** Without a terminal, another line is printed this often. */
const lineEveryMs = 5000
/** Rate and time left are computed over this time. */
const windowMs = 10_000

/** Shows how much of the input is read: a bar on a terminal, otherwise a line every five seconds. */
export class Progress {
  readonly #screen: Screen
  readonly #clock: Clock
  readonly #totalBytes: number | undefined
  readonly #suffix: () => string
  readonly #samples: Sample[]
  #done = { lines: 0, bytes: 0 }
  #skipped = { lines: 0, bytes: 0 }
  #timer: Timer | undefined

  constructor({ screen, clock, totalBytes, suffix = () => '' }: ProgressPlan) {
    this.#screen = screen
    this.#suffix = suffix
    this.#clock = clock
    this.#totalBytes = totalBytes
    this.#samples = [{ atMs: clock.now(), lines: 0, bytes: 0 }]
    this.#show(false)
  }

  /** Count a line as done. A skipped line counts for the share that is done, and not for the rate. */
  advance(bytes: number, skipped = false): void {
    const count = skipped ? this.#skipped : this.#done
    count.lines++
    count.bytes += bytes
  }

  /** Print a message above the bar. */
  say(text: string): void {
    this.#screen.write(`${this.#screen.isTTY ? '\r\x1b[K' : ''}${oneLine(text)}\n`)
    if (this.#screen.isTTY) this.#draw()
  }

  /** Remove the bar. Idempotent. */
  end(): void {
    if (this.#timer === undefined) return
    this.#timer.cancel()
    this.#timer = undefined
    if (this.#screen.isTTY) this.#screen.write('\r\x1b[K')
  }

  #show(now = true): void {
    if (now) this.#draw()
    this.#timer = this.#clock.schedule(() => this.#show(), this.#screen.isTTY ? barEveryMs : lineEveryMs)
  }

  #draw(): void {
    const now: Sample = { atMs: this.#clock.now(), ...this.#done }
    this.#samples.push(now)
    while (this.#samples.length > 2 && now.atMs - this.#samples[0]!.atMs > windowMs) this.#samples.shift()
    const oldest = this.#samples[0]!
    const seconds = (now.atMs - oldest.atMs) / 1000
    const readBytes = this.#done.bytes + this.#skipped.bytes
    const bytesPerSecond = (now.bytes - oldest.bytes) / seconds
    const total = this.#totalBytes
    const suffix = this.#suffix()
    const text = progressText({
      share: total === undefined ? undefined : total === 0 ? 1 : readBytes / total,
      lines: this.#done.lines + this.#skipped.lines,
      linesPerSecond: seconds === 0 ? 0 : (now.lines - oldest.lines) / seconds,
      // The file may have grown since, so the result may be negative.
      secondsLeft:
        total !== undefined && bytesPerSecond > 0 ? Math.max(0, total - readBytes) / bytesPerSecond : undefined,
      barWidth: this.#screen.isTTY ? barWidth(this.#screen.columns, suffix) : 0,
      suffix,
    })
    this.#screen.write(this.#screen.isTTY ? `\r${text}\x1b[K` : `${text}\n`)
  }
}

/** The room that the text leaves on the line. */
function barWidth(columns: number | undefined, suffix: string): number {
  // A terminal of unknown width reports 0 columns.
  return Math.max(0, Math.min(30, (columns || 80) - 52 - suffix.length))
}

function progressText({
  share,
  lines,
  linesPerSecond,
  secondsLeft,
  barWidth,
  suffix,
}: {
  readonly share: number | undefined
  readonly lines: number
  readonly linesPerSecond: number
  readonly secondsLeft: number | undefined
  readonly barWidth: number
  readonly suffix: string
}): string {
  const pace = `${counted(lines, 'line')}, ${Math.round(linesPerSecond)} lines/s`
  if (share === undefined) return pace + suffix
  const filled = Math.round(Math.min(1, share) * barWidth)
  const bar = barWidth === 0 ? '' : `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] `
  const left = secondsLeft === undefined ? '' : `, ${duration(secondsLeft)} left`
  return `${bar}${Math.floor(Math.min(1, share) * 100)} %, ${pace}${left}${suffix}`
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  const two = (value: number) => String(value).padStart(2, '0')
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  return hours === 0 ? `${minutes}:${two(whole % 60)}` : `${hours}:${two(minutes)}:${two(whole % 60)}`
}
