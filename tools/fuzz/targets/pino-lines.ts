import { equal } from 'node:assert/strict'
import { logHead } from '../../../src/records/encode.js'
import { PinoBytes } from '../../../src/records/pino-bytes.js'
import { type IsBase, mapPinoLine, pinoMapper } from '../../../src/records/pino-line.js'
import { Input, seed } from '../input.js'
import { arrivedAt, checkRecord, encoder, mappingFrom, writtenBody } from '../record-writing.js'

const head = `{"level":30,"time":${arrivedAt},"pid":1,"hostname":"h"`

export const seeds = [
  `${head},"msg":"hello"}`,
  `${head},"orderId":7,"total":99.5,"paid":true,"coupon":null,"debt":-1.25,"msg":"héllo → 😀"}`,
  `${head},"name":"shop","msg":"a logger with a name"}`,
  `{"level":35,"time":${arrivedAt + 1},"msg":"no base","a":""}`,
  `${head},"path":"C:\\\\temp\\n","control":"\\u0001\\u001b[31m","msg":"\\"line\\"\\nline"}`,
  `${head},"req":{"id":1,"headers":{"host":"a","x":[1,"b",[],{}]}},"msg":"request"}`,
  `${head},"ms":0.30000000000000004,"big":1e+21,"small":1.5e-7,"long":9007199254740991,"eventId":7,"msg":"numbers"}`,
  `${head},"err":{"type":"Error","message":"boom","stack":"Error: boom\\n    at a"},"msg":"failed"}`,
  `${head},"a":1,"a":2,"token":"Bearer abcdefghij","msg":"bob@example.com 4111 1111 1111 1111"}`,
  `${head}}\n${head},"msg":"m"}\n${head.replace('30', '50')},"msg":"m"}`,
].flatMap((line) => [seed([0, 1, 0, 0, 0, 0], line), seed([0, 0, 0, 1, 1, 1], line)])

const messageKeys = ['msg', 'message', 'err', 'eventId', 'name', '7', '\ud800']
const bases: readonly IsBase[] = [() => true, () => false, (key) => key !== 'hostname']

/** Each line gives the same record by its bytes as by its text, whatever came before it. */
export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const messageKey = input.pick(messageKeys)
  const mapping = { ...mappingFrom(input), messageKey }
  const isBase = input.pick(bases)
  const mapper = pinoMapper(mapping)
  const bytes = new PinoBytes(mapping, { tail: encoder.logTail, isBase })
  for (const line of input.text().split('\n')) {
    const mapped = slow(() => mapPinoLine(mapper, line, { messageKey, arrivedAt, isBase }))
    const body = writtenBody(bytes, Buffer.from(line))
    if (mapped === undefined) {
      equal(body, undefined, 'a line has a record by its bytes only')
      continue
    }
    const expected = encoder.completeLog(logHead(mapped.fields))
    checkRecord(expected, mapping.maxMessageBytes)
    if (body === undefined) continue
    equal(body, expected)
    equal(bytes.severity, mapped.severity)
    equal(bytes.number, mapped.number)
  }
}

/** A line that is no object cannot be mapped: the caller counts it as unreadable. */
function slow<Result>(map: () => Result): Result | undefined {
  try {
    return map()
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}
