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
