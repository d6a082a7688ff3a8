import { oneLine } from '../errors/text-of.js'
import type { Clock, Timer } from '../runtime/clock.js'

/** Where progress is shown: stderr. */
export interface Screen {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
}

export interface ProgressPlan {
  readonly screen: Screen
  readonly clock: Clock
  /** Of all files; undefined when there is no saying how much will come. */
  readonly totalBytes: number | undefined
  /** What is to be told besides, such as what is under way. @default nothing */
  readonly besides?: () => string
}

/** A moment: what had been done by then. */
interface Sample {
  readonly atMs: number
  readonly lines: number
  readonly bytes: number
}

/** How often it is shown: a bar that is drawn again, or another line. */
const barEveryMs = 200
const lineEveryMs = 5000
/** Rate and time left follow from what was done within this time. */
const windowMs = 10_000

/** Shows how far the reading of a file is: by a bar on a terminal, elsewhere by a line every five seconds. */
export class Progress {
  readonly #screen: Screen
  readonly #clock: Clock
  readonly #totalBytes: number | undefined
  readonly #besides: () => string
  readonly #samples: Sample[]
  #done = { lines: 0, bytes: 0 }
  #skipped = { lines: 0, bytes: 0 }
  #timer: Timer | undefined

  constructor({ screen, clock, totalBytes, besides = () => '' }: ProgressPlan) {
    this.#screen = screen
    this.#besides = besides
    this.#clock = clock
    this.#totalBytes = totalBytes
    this.#samples = [{ atMs: clock.now(), lines: 0, bytes: 0 }]
    this.#show(false)
  }

  /** A line is done; one that was skipped counts for how far it is, and not for how fast. */
  advance(bytes: number, skipped = false): void {
    const count = skipped ? this.#skipped : this.#done
    count.lines++
    count.bytes += bytes
  }

  /** Say something above the bar. */
  say(text: string): void {
    this.#screen.write(`${this.#screen.isTTY ? '\r\x1b[K' : ''}${oneLine(text)}\n`)
    if (this.#screen.isTTY) this.#draw()
  }

  /** Take the bar away. Idempotent. */
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
    const besides = this.#besides()
    const text = progressText({
      share: total === undefined ? undefined : total === 0 ? 1 : readBytes / total,
      lines: this.#done.lines + this.#skipped.lines,
      linesPerSecond: seconds === 0 ? 0 : (now.lines - oldest.lines) / seconds,
      // A file may grow while it is read.
      secondsLeft:
        total !== undefined && bytesPerSecond > 0 ? Math.max(0, total - readBytes) / bytesPerSecond : undefined,
      barWidth: this.#screen.isTTY ? barWidth(this.#screen.columns, besides) : 0,
      besides,
    })
    this.#screen.write(this.#screen.isTTY ? `\r${text}\x1b[K` : `${text}\n`)
  }
}

/** What a terminal has room for beside the words. */
function barWidth(columns: number | undefined, besides: string): number {
  // A terminal that does not know how wide it is says 0.
  return Math.max(0, Math.min(30, (columns || 80) - 52 - besides.length))
}

/** The line itself. */
function progressText({
  share,
  lines,
  linesPerSecond,
  secondsLeft,
  barWidth,
  besides,
}: {
  readonly share: number | undefined
  readonly lines: number
  readonly linesPerSecond: number
  readonly secondsLeft: number | undefined
  readonly barWidth: number
  readonly besides: string
}): string {
  const pace = `${lines} lines, ${Math.round(linesPerSecond)} lines/s`
  if (share === undefined) return pace + besides
  const filled = Math.round(Math.min(1, share) * barWidth)
  const bar = barWidth === 0 ? '' : `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] `
  const left = secondsLeft === undefined ? '' : `, ${duration(secondsLeft)} left`
  return `${bar}${Math.floor(Math.min(1, share) * 100)} %, ${pace}${left}${besides}`
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  const two = (value: number) => String(value).padStart(2, '0')
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  return hours === 0 ? `${minutes}:${two(whole % 60)}` : `${hours}:${two(minutes)}:${two(whole % 60)}`
}
