import { createInterface } from 'node:readline'
import { oneLine } from '../errors/text-of.js'
import { Progress, type ProgressPlan } from './progress.js'

/** The result of a run. */
export interface Summary {
  /** True when everything that was asked for is done. */
  readonly ok: boolean
  /** For a person: lines without their ends. An entry that is false is left out. */
  readonly lines: readonly (string | false)[]
  /** For a script: the fields of a JSON object. */
  readonly facts: Readonly<Record<string, unknown>>
}

/** Exit statuses: 0 all good; 1 something failed; 2 the command line or the configuration is wrong. */
export type Status = 0 | 1 | 2

/** The help text of `--json`, in every command. */
export const jsonHelp = 'print one JSON object on stdout at the end, and no text'

/**
 * Prints the result of one command: as text, or with `--json` as one object on stdout. Failures go to stderr in both cases. While progress is
 * shown, messages appear above it.
 */
export class Output {
  readonly #command: string
  readonly #json: boolean
  #progress: Progress | undefined

  constructor(command: string, { json = false }: { readonly json?: boolean } = {}) {
    this.#command = command
    this.#json = json
  }

  /** Show progress on stderr until {@link endProgress}. */
  showProgress(plan: Omit<ProgressPlan, 'screen'>): Progress {
    this.#progress = new Progress({ screen: process.stderr, ...plan })
    return this.#progress
  }

  /** Idempotent. */
  endProgress(): void {
    this.#progress?.end()
    this.#progress = undefined
  }

  /** Print a message on stderr. */
  say(text: string): void {
    if (this.#progress === undefined) sayLine(text)
    else this.#progress.say(text)
  }

  /** Print the result. Returns the exit status. */
  summary(summary: Summary): Status {
    this.endProgress()
    if (this.#json) printJson({ ok: summary.ok, ...summary.facts })
    else printLines(summary.lines)
    return summary.ok ? 0 : 1
  }

  /** Print a failure that leaves nothing to sum up. Returns the exit status. */
  fail(status: Status, message: string): Status {
    this.endProgress()
    if (this.#json) printJson({ ok: false, error: message })
    this.complain(message)
    return status
  }

  /** Print a message on stderr that names the command. */
  complain(message: string): void {
    this.say(`${this.#command}: ${message}`)
  }
}

/** Print one line on stderr. Control characters are removed: text of the service, of a file or of the command line must not steer a terminal. */
export function sayLine(line: string): void {
  process.stderr.write(`${oneLine(line)}\n`)
}

/** Ask on stderr. An input that has ended says no. */
export async function confirmed(question: string): Promise<boolean> {
  process.stderr.write(`${oneLine(question)} [y/N] `)
  for await (const answer of createInterface({ input: process.stdin })) return /^y(es)?$/i.test(answer.trim())
  return false
}

/** Print text on stdout as it is: text of this package, or text without control characters other than colours. */
export function printOwn(text: string): void {
  process.stdout.write(text)
}

function printLines(lines: Summary['lines']): void {
  process.stdout.write(lines.map((line) => (line === false ? '' : `${oneLine(line)}\n`)).join(''))
}

function printJson(value: object): void {
  process.stdout.write(jsonLine(value))
}

/** A value as one line of JSON. Every character that a terminal could obey is escaped. */
export function jsonLine(value: object): string {
  return `${JSON.stringify(value).replace(unprintable, escaped)}\n`
}

/** Print text as {@link printOwn} does. Resolves when there is room for more, or no reader any more. */
export async function printPaced(text: string): Promise<void> {
  const { stdout } = process
  if (stdout.write(text) || stdout.destroyed) return
  await new Promise<void>((resolve) => {
    const done = () => {
      for (const event of ['drain', 'close', 'error']) stdout.off(event, done)
      resolve()
    }
    for (const event of ['drain', 'close', 'error']) stdout.on(event, done)
  })
}

/** JSON leaves these characters as they are. */
const unprintable = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
