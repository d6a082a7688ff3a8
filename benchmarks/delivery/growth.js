import { setImmediate as turn } from 'node:timers/promises'
import pino from 'pino'
import { close, flush } from 'sluice'
import { sluicePino } from 'sluice/pino'
import { fieldsOf, mark, textOf } from '../support/contestants/order.js'
import { perRecord, startServer } from '../support/measure.js'
import { median } from '../support/per-call.js'

// Does a record cost the same among a thousand as among a million? Lines of pino, from the call to the answer of the server, in a process
// that is warm; the bounds are raised so that the million fits.
const sizes = [1000, 10_000, 100_000, Number(process.env.RECORDS ?? 1_000_000)]
const rounds = Number(process.env.ROUNDS ?? 3)
const perTurn = 100
const server = await startServer({ mark })
const bounds = { maxQueueRecords: 2_000_000, maxQueueBytes: 2 ** 31 }
const logger = pino(sluicePino({ url: server.url, apiKey: 'benchmark', bucket: 'b', ...bounds }))

/** @param {number} count */
async function deliver(count) {
  for (let number = 0; number < count; number++) {
    logger.info(fieldsOf(number), textOf(number))
    if (number % perTurn === 0) await turn()
  }
  await flush({ timeoutMs: 600_000 })
}

await deliver(100_000)
/** @type {{ size: number, cpu: number, wall: number }[]} */
const rows = []
for (const size of sizes) {
  // Small numbers are too quick for one measurement: as often as a tenth of a million takes.
  const repetitions = Math.max(1, Math.floor(100_000 / size))
  const results = []
  for (let round = 0; round < rounds; round++) {
    results.push(
      await perRecord(size * repetitions, async () => {
        for (let repetition = 0; repetition < repetitions; repetition++) await deliver(size)
      }),
    )
  }
  rows.push({ size, cpu: median(results.map(({ cpu }) => cpu)), wall: median(results.map(({ wall }) => wall)) })
}
const { accepted, delivered } = await close({ timeoutMs: 60_000 })
if (accepted !== delivered) throw new Error(`accepted ${accepted}, delivered ${delivered}`)
server.stop()

const least = rows[0]
process.stdout.write(
  `  ${`records, median of ${rounds}`.padEnd(24)}${'CPU µs/record'.padStart(14)}${'ratio'.padStart(8)}${'wall µs/record'.padStart(16)}   (budget flat)\n`,
)
for (const { size, cpu, wall } of rows) {
  const ratio = (cpu / (least?.cpu ?? Number.NaN)).toFixed(2)
  process.stdout.write(
    `  ${String(size).padEnd(24)}${cpu.toFixed(1).padStart(14)}${ratio.padStart(8)}${wall.toFixed(1).padStart(16)}\n`,
  )
}
