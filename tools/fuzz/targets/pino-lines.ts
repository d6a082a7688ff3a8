import type { IsOwn } from '../../../src/records/line-head.js'
import { Input, seed } from '../input.js'
import { arrivedAt, checkLines, mappingFrom } from '../record-writing.js'

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
  `{"severity":"ERROR","log":{"level":"warn"},"@timestamp":"2023-11-14T22:13:20.123Z","level":7,"msg":"formatters"}`,
  `${head}}\n${head},"msg":"m"}\n${head.replace('30', '50')},"msg":"m"}\nno JSON\n[1]\n"a text"`,
].flatMap((line) => [seed([0, 1, 0, 0, 0, 0], line), seed([0, 0, 0, 1, 1, 1], line)])

const messageKeys = ['msg', 'message', 'err', 'eventId', 'name', '7', 'time']
const owns: readonly IsOwn[] = [() => true, () => false, (key) => key !== 'hostname']

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const messageKey = input.pick(messageKeys)
  const mapping = { ...mappingFrom(input), messageKey, isOwn: input.pick(owns) }
  checkLines(mapping, input.text().split('\n'), { arrivedAt })
}
