import { Input, seed } from '../input.js'
import { arrivedAt, checkLines, mappingFrom } from '../record-writing.js'

export const seeds = [
  '{"level":"info","message":"hello"}',
  '{"level":"warn","message":"order \\"placed\\"\\nnow","orderId":7,"total":99.5,"paid":true,"coupon":null,"path":"C:\\\\temp"}',
  '{"level":"info","message":"m","timestamp":"2023-11-14T22:13:20.123Z","eventId":1001}',
  '{"level":"\\u001b[32minfo\\u001b[39m","message":"\\u001b[32mm\\u001b[39m"}',
  '{"level":"error","message":"m","stack":"Error: m\\n    at a","err":"a text","service":"shop"}',
  '{"level":"error","message":"m","err":{},"error":{"code":7},"stack":[null,"Error: m\\n    at a"]}',
  '{"message":"m","level":"info","a":{"b":[1,{"c":null}]},"token":"Bearer abcdefghij"}\n{"level":"info","message":"x"}',
].flatMap((line) => [seed([0, 1, 0, 0, 0, 0, 0], line), seed([0, 0, 1, 1, 1, 1, 1], line)])

const levels = ['info', 'söme "level"', 'x'.repeat(300), undefined]
const error = { name: 'TypeError', message: 'boom', stack: 'TypeError: boom\n    at a', code: 'E1' }
/** As the transport tells them beside the line. */
const errors = [undefined, JSON.stringify({ err: error, error, a: error }), JSON.stringify({ '': error })]

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const mapping = { ...mappingFrom(input), logger: 'winston', level: input.pick(levels) } as const
  const about = { arrivedAt: arrivedAt + input.below(2), errors: input.pick(errors) }
  checkLines(mapping, input.text().split('\n'), about)
}
