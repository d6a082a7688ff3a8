import { deepStrictEqual, ok } from 'node:assert/strict'
import type { AnswerRun, AwaitingRequests, ReadAnswer } from '../../../src/http/read-answer.js'
import { ResponseReader } from '../../../src/http/response-reader.js'
import { Input, piecesOf, seed } from '../input.js'

const plain = 'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{"result":true}'
const keyed = (key: number) =>
  `HTTP/1.1 201 Created\r\nx-correlation-id: c${key}\r\nidempotency-key: k-${key}\r\nContent-Length: 2\r\n\r\n{}`
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

export const seeds = [
  plain.repeat(3),
  [0, 1, 2, 3].map(keyed).join(''),
  keyed(0) + keyed(7) + keyed(2),
  `${chunked}8\r\n{"result\r\n7;a="b"\r\n":true}\r\n0\r\nx-sum: 1\r\n\r\n${plain}`,
  `${chunked}00F\r\n{"result":true}\r\n0\r\n\r\n`.repeat(2),
  `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${plain}`,
  'HTTP/1.1 503 X\r\nretry-after: 3\r\nlocation: /y\r\nkeep-alive: timeout=72, max=3\r\ncontent-length: 4\r\n\r\nbusy',
  'HTTP/1.1 204 No Content\r\nserver: x\r\n\r\n',
  'HTTP/1.1 200 OK\r\n\r\nall of it',
  'HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 201 X\r\nconnection: x, CLOSE\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 304 X\r\ncontent-length: 50\r\n\r\n',
].map((text) => seed([3, 50], Buffer.from(text, 'latin1')))

/** Requests with the keys `k-0`, `k-1` and so on. */
class Requests implements AwaitingRequests {
  answered = 0
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get awaiting() {
    return this.#most - this.answered
  }

  hasKey(ahead: number, key: string) {
    return key === `k-${this.answered + ahead}`
  }
}

type Said = Omit<ReadAnswer, 'echoedKey'> & Pick<AnswerRun, 'key'>

/** An answer of a run may be an earlier one with another key. */
function said({ answer: { echoedKey: _, ...answer }, key }: AnswerRun): Said {
  return { ...answer, key }
}

/** All that one reader makes of the bytes. */
function read(pieces: readonly Buffer[], most: number) {
  const reader = new ResponseReader()
  const requests = new Requests(most)
  const answers: Said[] = []
  const take = (run: AnswerRun | undefined) => {
    if (run === undefined) return false
    ok(run.count === 1 || run.count <= requests.awaiting, 'a run has more answers than requests wait')
    for (let each = 0; each < run.count; each++) answers.push(said(run))
    requests.answered += run.count
    return true
  }
  for (const piece of pieces) {
    reader.push(piece)
    while (take(reader.next(requests)));
  }
  const { over, failure } = reader
  if (reader.over) ok(reader.next(requests) === undefined, 'an answer has come after the last one')
  take(reader.end(requests))
  return { answers, over, understood: failure === undefined }
}

/** The same by a new reader for each answer, byte by byte: none of them can know an earlier answer, or read beyond its own. */
function readOneByOne(bytes: Buffer, most: number) {
  const requests = new Requests(most)
  const answers: Said[] = []
  let at = 0
  for (;;) {
    const reader = new ResponseReader()
    let run: AnswerRun | undefined
    while (run === undefined && !reader.over && at < bytes.length) {
      reader.push(bytes.subarray(at, ++at))
      run = reader.next(requests)
    }
    const { over, failure } = reader
    run ??= reader.end(requests)
    if (run !== undefined) answers.push(said(run))
    requests.answered++
    if (over || run === undefined || at === bytes.length) return { answers, over, understood: failure === undefined }
  }
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const sizes = [1 + input.below(16), 1 + input.below(256)]
  const bytes = input.rest()
  const whole = read([bytes], 20)
  deepStrictEqual(read(piecesOf(bytes, sizes), 20), whole)
  deepStrictEqual(readOneByOne(bytes, 20), whole)
}
