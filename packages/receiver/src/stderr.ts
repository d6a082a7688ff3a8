/** Control characters, ends of lines, and marks that change the direction of writing. */
const unprintable = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** Print one line on stderr. Words of requests, of records and of a database in it must not steer a terminal, nor begin a line. */
export function say(text: string): void {
  process.stderr.write(`sluice-receiver: ${text.replace(unprintable, ' ')}\n`)
}
