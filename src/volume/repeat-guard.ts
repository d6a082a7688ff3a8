import type { Severity } from '../records/level.js'
import { ownText } from '../records/plain-fields.js'
import type { Clock, Timer } from '../runtime/clock.js'
import { maxTemplateChars, messageTemplate } from './message-template.js'
import type { Repetition } from './repetition-text.js'

/** A line of a logger, as far as it is compared. */
export interface RepeatableLine {
  readonly logger: string | undefined
  readonly level: string
  readonly severity: Severity
  /** The message. */
  readonly text: string
}

/** The lines that a window has suppressed. */
export interface EndedRepetition extends Repetition, RepeatableLine {}

export interface RepeatGuardSettings {
  /** Most lines of a window that pass. From 1. */
  readonly most: number
  readonly windowMs: number
  readonly clock: Clock
  /** Called once at the end of each window that has suppressed lines. Must not throw: it may run in a timer. */
  readonly ended: (repetition: EndedRepetition) => void
}

/** Most windows that are open at once. */
export const maxWindows = 1000
/** Names of loggers and levels are compared, and reported, up to this length. */
const maxNameChars = 200

/**
 * Lets the first lines of one logger, level and message template pass, and suppresses the others until their window ends. A window begins
 * with its first line.
 *
 * Memory is bounded: at most {@link maxWindows} windows are open, and another one ends the oldest early. Each holds copies of texts of
 * bounded length, as a part of a string would hold the whole.
 */
export class RepeatGuard {
  readonly #settings: RepeatGuardSettings
  readonly #windows = new Map<string, Window>()
  /** All windows have the same length, so they end in the order of their beginning: a list from the oldest to the newest. */
  #oldest: Window | undefined
  #newest: Window | undefined
  #timer: Timer | undefined

  constructor(settings: RepeatGuardSettings) {
    this.#settings = settings
  }

  /** False for a line that is to be suppressed. It is counted then. */
  passes(line: RepeatableLine): boolean {
    const now = this.#settings.clock.now()
    // The thread may have been too busy for the timer.
    this.#endUntil(now)
    const key = keyOf(line)
    const window = this.#windows.get(key)
    if (window === undefined) {
      if (this.#windows.size === maxWindows) this.#endOldest(now)
      this.#open(ownText(key), line, now)
      return true
    }
    if (window.passed < this.#settings.most) {
      window.passed++
      return true
    }
    if (window.suppressed++ === 0) window.text = boundedText(line.text)
    return false
  }

  /** Ends all windows now. The next line begins a new one. */
  end(): void {
    const now = this.#settings.clock.now()
    this.#endUntil(now)
    while (this.#oldest !== undefined) this.#endOldest(now)
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #open(key: string, { logger, level, severity }: RepeatableLine, now: number): void {
    const window: Window = {
      key,
      logger: logger === undefined ? undefined : ownText(bounded(logger)),
      level: ownText(bounded(level)),
      severity,
      startedAt: now,
      passed: 1,
      suppressed: 0,
      text: '',
      next: undefined,
    }
    this.#windows.set(key, window)
    if (this.#newest === undefined) this.#oldest = window
    else this.#newest.next = window
    this.#newest = window
    this.#timer ??= this.#settings.clock.schedule(this.#wake, this.#settings.windowMs)
  }

  readonly #wake = (): void => {
    const { clock, windowMs } = this.#settings
    this.#timer = undefined
    const now = clock.now()
    this.#endUntil(now)
    if (this.#oldest === undefined) return
    this.#timer ??= clock.schedule(this.#wake, this.#oldest.startedAt + windowMs - now)
  }

  #endUntil(now: number): void {
    const { windowMs } = this.#settings
    while (this.#oldest !== undefined && this.#oldest.startedAt + windowMs <= now) this.#endOldest(now)
  }

  #endOldest(now: number): void {
    const { key, next, startedAt, suppressed, text, logger, level, severity } = this.#oldest!
    this.#windows.delete(key)
    this.#oldest = next
    if (next === undefined) this.#newest = undefined
    if (suppressed === 0) return
    const windowMs = Math.min(now - startedAt, this.#settings.windowMs)
    this.#settings.ended({ logger, level, severity, text, count: suppressed, windowMs })
  }
}

interface Window extends Pick<RepeatableLine, 'logger' | 'level' | 'severity'> {
  readonly key: string
  readonly startedAt: number
  passed: number
  suppressed: number
  /** Message of the first suppressed line. */
  text: string
  /** The window that began after it. */
  next: Window | undefined
}

function keyOf({ logger, level, text }: RepeatableLine): string {
  return `${bounded(level)}\0${bounded(logger ?? '')}\0${messageTemplate(text)}`
}

function bounded(name: string): string {
  return name.length <= maxNameChars ? name : name.slice(0, maxNameChars)
}

function boundedText(text: string): string {
  return text.length <= maxTemplateChars ? ownText(text) : `${ownText(text.slice(0, maxTemplateChars)).toWellFormed()}…`
}
