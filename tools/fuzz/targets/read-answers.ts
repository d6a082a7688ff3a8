import { ok } from 'node:assert/strict'
import { countsIn } from '../../../packages/receiver/src/client/read-counts.js'
import { pageAfter, pageIn } from '../../../packages/receiver/src/client/record-page.js'
import { countsSummary } from '../../../packages/receiver/src/commands/counts-summary.js'
import { logRow } from '../../../packages/receiver/src/commands/log-row.js'
import { logs } from '../../../packages/receiver/src/commands/logs.js'
import { ApiError } from '../../../src/content/api-error.js'
import { readAnswer, readResult } from '../../../src/content/read-answer.js'
import { Input, seed } from '../input.js'

const record =
  '{"id":1,"receivedAt":"2026-01-01T00:00:00.000Z","timeStamp":1,"level":"info","message":"m","appName":"a"}'
const counts =
  '{"by":"event","total":2,"totals":{"7":1,"8":1},"lastSeen":{"7":"2026-01-01T00:00:00.000Z"},"stepMs":60000,' +
  '"list":[{"time":"2026-01-01T00:00:00.000Z","counts":{"7":1}}],"others":1,"countedSince":"x"}'

export const seeds = [
  seed([0, 0], `{"total":1,"list":[${record}],"next":1,"hint":"h","incomplete":true}`),
  seed([0, 0], `{"total":1,"list":[${record.replace('"info"', '7')},${record.replace('"m"', 'null')}]}`),
  seed([0, 1], counts),
  seed([0, 1], counts.replace('"counts":{"7":1}', '"counts":null').replace('"lastSeen":{', '"lastSeen":{"9":5,')),
  seed([0, 2], '{"success":true,"result":"id","errors":[]}'),
  seed(
    [0, 2],
    '{"success":false,"errors":[{"message":"m","correlationId":"c"}],"validationErrors":[{"name":"a","message":{}}]}',
  ),
  seed([5, 2], '<!doctype html>'),
]

const secret = 'slk_secret-of-the-application'
const asked = { what: 'read', scheme: 'apiKey', redact: (text: string) => text.replaceAll(secret, '') } as const
const statuses = [200, 201, 302, 400, 401, 412, 429, 500]
const line = {
  texts: { 'min-level': 'warn', text: 'order', 'not-text': 'health', app: 'a' },
  flags: new Set<string>(),
  operands: [],
}
const read = logs.read(line as never)
const most = 20_000

/** An answer of the receiver's reading API gives rows, or an `ApiError` in bounds. */
export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const status = input.pick(statuses)
  const use = input.below(3)
  const answer = { status, body: input.text() }
  const exchange = { type: 'answered', answer } as const
  try {
    if (use === 2) {
      ok(readResult(exchange as never, asked) !== '')
      return
    }
    const body = readAnswer(exchange as never, asked)
    if (use === 1) {
      const { lines } = countsSummary(countsIn(body, asked), { names: new Map([[7, 'seven']]), hasSteps: true })
      ok(lines.every((each) => each === false || typeof each === 'string'))
      return
    }
    const page = pageIn(body, { asked, kind: 'logs' })
    const after = pageAfter(page, { asked, limit: 1, before: undefined })
    ok(after === undefined || typeof after === 'number')
    ok(typeof read === 'object')
    for (const each of page.list.filter(read.matches).concat(page.list)) ok(logRow(each).endsWith('\n'))
  } catch (error) {
    ok(error instanceof ApiError, error as Error)
    ok(`${error.message}${JSON.stringify(error)}`.length < most, 'an error is too long')
  }
}
