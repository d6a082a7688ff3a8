import { ok } from 'node:assert/strict'
import { foreignAnswer, readBody } from '../../../src/http/answer-body.js'
import { classify } from '../../../src/http/classify.js'
import { Input, seed } from '../input.js'

const refusal =
  '{"result":false,"errors":["no"],"validationErrors":[{"name":"level","attemptedValue":{"a":[1,"b"]},"message":"x"}]}'

export const seeds = [
  seed([0, 0], '{"result":true}'),
  seed([0, 0], refusal),
  seed([5, 1], refusal),
  seed([3, 2], '{"success":false,"errors":[{"message":"m","correlationId":"c"}]}'),
  seed([0, 0], '<!doctype html><title>login</title>'),
  seed([0, 0], '{"result":tr'),
  seed([9, 3], 'Wed, 21 Oct 2026 07:28:00 GMT'),
  seed([9, 3], '120'),
]

const statuses = [200, 201, 204, 301, 302, 400, 401, 403, 404, 429, 503, 500, 402, 412, 422, 413, 100, 999]
/** A reason is at most this long, however long the answer is: that of errors, a location, and the words around them. */
const maxReason = 1200
/** Of all complaints about one record. */
const maxComplaints = 200_000

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const status = input.pick(statuses)
  const place = input.below(4)
  const text = input.text()
  const answer = {
    status,
    body: place === 3 ? '' : text,
    ...(place === 2 ? { location: text } : {}),
    ...(place === 3 ? { retryAfter: text } : {}),
  }
  const outcome = classify(answer, 1_700_000_000_000)
  const success = status >= 200 && status < 300
  ok(outcome.type !== 'delivered' || success, 'a failure counts as delivered')
  if (outcome.type === 'delivered') ok(readBody(answer.body).type !== 'foreign', foreignAnswer(status))
  if (success && readBody(answer.body).type === 'empty')
    ok(outcome.type === 'delivered', 'an empty success is no success')
  if ('reason' in outcome) ok(outcome.reason.length <= maxReason, `a reason has ${outcome.reason.length} characters`)
  if (outcome.type === 'retry') {
    const { retryAfterMs = 0 } = outcome
    ok(retryAfterMs >= 0 && Number.isFinite(retryAfterMs), `waits ${retryAfterMs} ms`)
  }
  if (outcome.type === 'rejected') {
    const written = JSON.stringify(outcome.validationErrors)
    ok(written.length <= maxComplaints, `complaints have ${written.length} characters`)
  }
}
