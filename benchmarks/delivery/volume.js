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
const nothing = () => {}
const queue = /** @type {import('../../src/engine/engine-delivery.js').EngineDelivery} */ (
  /** @type {unknown} */ ({
    accept: nothing,
    suppress: nothing,
    keptForError: nothing,
    redacted: nothing,
  })
)
const fields = '"customer":"a1b2c3","items":[{"sku":"x-1","count":2}],"total":99.5,"path":"/orders/c-17?page=2"'
let written = 0

/** @param {Options} own  @param {{ level?: number, below?: boolean }} [line] */
function intake(own, { level = 30, below = false } = {}) {
  const { options } = configure({ url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b', ...own }, 'logs')
  const writer = new RecordWriter(options)
  const unreadable = () => writer.unreadable
  const plan = { options, clock: systemClock, delivery: queue, lane: 0, writer, gathers: false, unreadable }
  const logs = new LogIntake(plan)
  const about = { style: {}, arrivedAt: 0, below }
  return (/** @type {number} */ calls) => {
    for (let call = 0; call < calls; call++) {
      const text = `{"level":${level},"time":1700000000000,"pid":17,"hostname":"web-1","reqId":${++written},${fields},"msg":"order placed for the second time"}`
      logs.line(Buffer.from(text).toString(), about)
    }
  }
}

printPerCall(
  await comparePerCall({
    'no option': intake({}),
    'sample, of another level': intake({ sample: { debug: 0.01 } }),
    'sample, 1 % is kept': intake({ sample: { info: 0.01 } }),
    'sample, 99 % are kept': intake({ sample: { info: 0.99 } }),
    'keepForError, a line above the level': intake({ level: 'info', keepForError: '200/30s' }),
    'keepForError, an error': intake({ level: 'info', keepForError: '200/30s' }, { level: 50 }),
    'keepForError, a line below the level': intake({ level: 'warn', keepForError: '200/30s' }, { below: true }),
  }),
  'none; with the line itself made anew for each call',
)
process.exit()
