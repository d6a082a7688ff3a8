import { deepStrictEqual, ok } from 'node:assert/strict'
import { stripVTControlCharacters } from 'node:util'
import { logRow } from '../../../packages/receiver/src/commands/log-row.js'
import { serverSentEvents } from '../../../packages/receiver/src/commands/server-sent-events.js'
import { jsonLine } from '../../../src/cli/output.js'
import { oneLine, quoted, reasonOf } from '../../../src/errors/text-of.js'
import { Input, piecesOf, seed } from '../input.js'

export const seeds = [
  'event: logs\nid: 1.2.3\ndata: {"list":[]}\n\n',
  ': comment\r\ndata: a\r\ndata: b\r\n\r\ndata:c\n\nevent: x',
  '\u001b]0;title\u0007\u001b[2J\u009b31m\u202eevil\u2066\u200f\r\nover',
  'retry: 100\nid\ndata\n\n',
].map((text) => seed([2, 30], text))

/** Characters that a terminal obeys, or that change the order of what is read. */
const obeyed = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

async function eventsOf(pieces: readonly Buffer[]) {
  const events = []
  async function* all() {
    yield* pieces
  }
  for await (const event of serverSentEvents(all())) events.push(event)
  return events
}

export async function fuzz(data: Buffer): Promise<void> {
  const input = new Input(data)
  const sizes = [1 + input.below(16), 1 + input.below(256)]
  const bytes = input.rest()
  deepStrictEqual(await eventsOf(piecesOf(bytes, sizes)), await eventsOf([bytes]))
  const text = bytes.toString('utf8')
  const record = { timeStamp: 1, level: text.slice(0, 7), appName: text.slice(7, 20), message: text.slice(20) }
  const row = logRow(record)
  ok(row.endsWith('\n') && !obeyed.test(stripVTControlCharacters(row.slice(0, -1))), `a row steers: ${row}`)
  for (const line of [
    oneLine(text),
    jsonLine({ [text]: text }).slice(0, -1),
    oneLine(quoted(text)),
    oneLine(reasonOf(text)),
  ]) {
    ok(!obeyed.test(line), `a line steers: ${line}`)
  }
  deepStrictEqual(JSON.parse(jsonLine({ text })), { text })
}
