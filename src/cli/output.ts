import { oneLine } from '../errors/text-of.js'

/** One line on stderr: whatever comes from the service, from a file or from the command line, it steers no terminal. */
export function sayLine(line: string): void {
  process.stderr.write(`${oneLine(line)}\n`)
}

/** Lines on stdout, under the same rule. */
export function printLines(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${oneLine(line)}\n`).join(''))
}

/** Text on stdout that this package has made, such as its help, or that has no control characters but those for colours. */
export function printOwn(text: string): void {
  process.stdout.write(text)
}

/** One line of JSON on stdout, in which every character that a terminal could obey is escaped. */
export function printJson(value: object): void {
  process.stdout.write(`${JSON.stringify(value).replace(unprintable, escaped)}\n`)
}

/** JSON leaves these as they are. */
const unprintable = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** What a command came to. */
export interface Summary {
  /** Everything that it was asked for has been done. */
  readonly ok: boolean
  /** For a person, without the ends of the lines. */
  readonly lines: readonly string[]
  /** For a script: the fields of an object of JSON. */
  readonly facts: Readonly<Record<string, unknown>>
}

/** Exit statuses: all good; something failed; the command line or the configuration is wrong. */
export type Status = 0 | 1 | 2

/** What `--help` says of `--json`, in every command. */
export const jsonHelp = 'print one object of JSON on stdout at the end, and no other words there'

/** How a command tells what it came to: in words, or with `--json` as one object on stdout; what went wrong always on stderr, too. */
export class Ending {
  readonly #command: string
  readonly #json: boolean

  constructor(command: string, { json = false }: { readonly json?: boolean } = {}) {
    this.#command = command
    this.#json = json
  }

  /** The answer is the exit status. */
  summary({ ok, lines, facts }: Summary): Status {
    if (this.#json) printJson({ ok, ...facts })
    else printLines(lines)
    return ok ? 0 : 1
  }

  /** There is nothing to sum up. */
  fail(status: Status, message: string): Status {
    if (this.#json) printJson({ ok: false, error: message })
    this.complain(message)
    return status
  }

  /** The command line is wrong. */
  wrong(message: string): Status {
    return this.fail(2, `${message}; see sluice ${this.#command} --help`)
  }

  complain(message: string): void {
    sayLine(`sluice ${this.#command}: ${message}`)
  }
}
