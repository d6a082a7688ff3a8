import { modules } from '../../tools/modules.js'
import { comparePerCall, printPerCall } from '../support/per-call.js'

/** @type {typeof import('../../src/options/redaction.js') & typeof import('../../src/records/pino-bytes.js') & typeof import('../../src/records/pino-line.js') & typeof import('../../src/records/redactor.js') & typeof import('../../src/records/secret-patterns.js')} */
const { defaultRedactedKeys, PinoBytes, mapPinoLine, pinoMapper, Redactor, patternNames } = await modules(
  'options/redaction',
  'records/pino-bytes',
  'records/pino-line',
  'records/redactor',
  'records/secret-patterns',
)

// From a line of pino to the body of a record, in the worker: with nothing to redact, and with a list of keys and all patterns.
const style = /** @type {const} */ ({ context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' })
const tail = Buffer.from(
  ',"appName":"shop","machineName":"host","env":"production","runtimeVersion":"v20.20.2","runtime":1}',
)
const fields =
  '"orderId":"c-17","customer":"a1b2c3","items":[{"sku":"x-1","count":2}],"total":99.5,"path":"/orders/c-17?page=2"'
const line = `{"level":30,"time":1700000000000,"pid":17,"hostname":"web-1",${fields},"msg":"order placed for the second time"}`

/** @param {import('../../src/records/redactor.js').Redactor | undefined} redactor */
function writer(redactor, written = line) {
  const mapping = { ...style, redactor }
  const bytes = new PinoBytes(mapping, { tail })
  const map = pinoMapper(mapping)
  const lines = Buffer.from(`${written}\n`)
  const memory = Buffer.alloc(bytes.most(lines.length))
  return (/** @type {number} */ calls) => {
    for (let call = 0; call < calls; call++) {
      if (bytes.write(lines, 0, lines.length, memory, 0) === -1) {
        mapPinoLine(map, lines.toString('utf8', 0, lines.length - 1), { arrivedAt: 0 })
      }
    }
  }
}

const redactor = (/** @type {readonly string[]} */ keys, /** @type {typeof patternNames} */ patterns = []) =>
  new Redactor({ keys, patterns, mask: '[redacted]' })
const many = Array.from({ length: 1000 }, (_, number) => `*secret${number}*`)
printPerCall(
  await comparePerCall({
    'no redaction': writer(undefined),
    'the default keys, none in the line': writer(redactor(defaultRedactedKeys)),
    'a thousand keys, none in the line': writer(redactor(many)),
    'keys and all patterns, none in the line': writer(redactor(defaultRedactedKeys, patternNames)),
    'the default keys, one in the line': writer(redactor(defaultRedactedKeys), line.replace('"customer"', '"token"')),
  }),
  'keys: ≤ 5 % of what the worker takes for a line',
)
