import { modules } from '../../tools/modules.js'
import { comparePerCall, printPerCall } from '../support/per-call.js'

/** @type {typeof import('../../src/engine/log-intake.js') & typeof import('../../src/engine/record-writer.js') & typeof import('../../src/process/configure.js') & typeof import('../../src/runtime/clock.js')} */
const { LogIntake, RecordWriter, configure, systemClock } = await modules(
  'engine/log-intake',
  'engine/record-writer',
  'process/configure',
  'runtime/clock',
)

// From a line of pino to a record that is accepted or left out, in the thread that delivers, with the options of docs/volume.md. The
// queue is left out: its part takes the bodies and keeps nothing.
/** @typedef {import('../../src/options/options.js').SluiceOptions} Options */
const memory = Buffer.alloc(4096)
const nothing = () => {}
const queue = /** @type {import('../../src/engine/engine-delivery.js').EngineDelivery} */ (
  /** @type {unknown} */ ({
    room: () => ({ memory, at: 0 }),
    append: nothing,
    accept: nothing,
    suppress: nothing,
    keptForError: nothing,
    redacted: nothing,
  })
)
const fields = '"customer":"a1b2c3","items":[{"sku":"x-1","count":2}],"total":99.5,"path":"/orders/c-17?page=2"'
const words = Array.from({ length: 2000 }, (_, number) => number.toString(2).replaceAll('0', 'a').replaceAll('1', 'b'))
let written = 0

/** @param {Options} own  @param {{ level?: number, below?: boolean, message?: () => string }} [line] */
function intake(own, { level = 30, below = false, message = () => 'order placed for the second time' } = {}) {
  const { options } = configure({ url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b', ...own }, 'logs')
  const writer = new RecordWriter(options)
  const unreadable = () => writer.unreadable
  const plan = { options, clock: systemClock, delivery: queue, lane: 0, writer, unreadable }
  const logs = new LogIntake(plan)
  const style = {}
  const bytes = writer.pinoBytes(style)
  const about = { style, severity: /** @type {const} */ (2), arrivedAt: 0, below }
  return (/** @type {number} */ calls) => {
    for (let call = 0; call < calls; call++) {
      const text = `{"level":${level},"time":1700000000000,"pid":17,"hostname":"web-1","reqId":${++written},${fields},"msg":"${message()}"}`
      const lines = Buffer.from(text)
      if (below || !logs.plain(lines, 0, lines.length, bytes)) logs.pinoLine(lines.toString(), about)
    }
  }
}

const other = () => words[written % words.length] ?? ''
printPerCall(
  await comparePerCall({
    'no option': intake({}),
    'sample, of another level': intake({ sample: { debug: 0.01 } }),
    'sample, 1 % is kept': intake({ sample: { info: 0.01 } }),
    'sample, 99 % are kept': intake({ sample: { info: 0.99 } }),
    'repeat, nearly all are repeated': intake({ repeat: '10/60s' }),
    'repeat, thousands of messages': intake({ repeat: '10/60s' }, { message: other }),
    'keepForError, a line above the level': intake({ level: 'info', keepForError: '200/30s' }),
    'keepForError, an error': intake({ level: 'info', keepForError: '200/30s' }, { level: 50 }),
    'keepForError, a line below the level': intake({ level: 'warn', keepForError: '200/30s' }, { below: true }),
  }),
  'none; with the line itself made anew for each call',
)
process.exit()
