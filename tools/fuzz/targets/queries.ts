import { ok } from 'node:assert/strict'
import { meetsQuery } from '../../../packages/receiver/src/query/meets-query.js'
import { maxQueryLength, parseQuery } from '../../../packages/receiver/src/query/parse-query.js'
import { QueryError } from '../../../packages/receiver/src/query/query-error.js'
import { errorKindOf } from '../../../packages/receiver/src/storage/records/error-kind.js'
import { Input, seed } from '../input.js'

export const seeds = [
  'checkout failed -health level>=warn',
  '(app:shop OR "card declined") NOT check* since:1h',
  'res.statusCode>=500 "a \\"key":x user.id:* {"res":{"statusCode":503}}',
  'order {"id":7}\nTypeError: x is not 12\n    at pay (/srv/app/src/pay.js:12:3)\n    at node:internal/x:1:1',
].map((text) => seed([8], text))

/** The first half is a query, and all of it is a message. */
export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const share = input.below(16) / 16
  const message = input.text()
  const written = message.slice(0, Math.ceil(message.length * share))
  const record = { timeStamp: 1, level: 'error', appName: 'x', message }
  const { id = '', message: shown = '' } = errorKindOf(record) ?? {}
  ok(/^[0-9a-f]{16}$/.test(id) && shown.length <= 200, `the kind of an error is ${id} ${shown}`)
  try {
    const query = parseQuery(written, 0)
    ok(query === undefined || typeof meetsQuery(record, query) === 'boolean')
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    ok(error.position >= 1 && error.position <= Math.min(written.length, maxQueryLength) + 1, error.message)
  }
}
