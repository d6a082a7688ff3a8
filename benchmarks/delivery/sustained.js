import { measureContestant, startApplication } from '../support/contest.js'

// Ten seconds of more lines than most applications write, and a full queue in an outage: does delivery keep up, and at what price?
const seconds = Number(process.env.DURATION_MS ?? 10_000) / 1000
const healthyPerSecond = 100_000
const outagePerSecond = 20_000
/** Lines that fill the queue before the measurement: twice as many as it takes. */
const filling = 200_000
const names = ['pino, a worker that discards', 'Sluice: pino target']

/** @param {string} title @param {readonly string[]} columns */
const header = (title, columns) =>
  process.stdout.write(`  ${title.padEnd(42)}${columns.map((column) => column.padStart(14)).join('')}\n`)
/** @param {string} name @param {readonly [number, number][]} cells each with its digits */
const row = (name, cells) =>
  process.stdout.write(
    `  ${name.padEnd(42)}${cells.map(([value, digits]) => (Number.isNaN(value) ? '–' : value.toFixed(digits)).padStart(14)).join('')}\n`,
  )

/** CPU in µs per line, and the largest resident memory, while the queue is full and connections are refused. @param {string} name */
async function inOutage(name) {
  const records = Math.max(filling, outagePerSecond * seconds)
  const setting = { url: 'http://127.0.0.1:9', records, perSecond: outagePerSecond }
  const application = startApplication(name, setting)
  try {
    await application.ready
    await application.order('log')
    const before = await application.order('measure')
    await application.order('log')
    const { cpu, peak } = await application.order('measure')
    return { cpu: (cpu - before.cpu) / records, peak }
  } finally {
    application.kill()
  }
}

header(`${healthyPerSecond} lines/s wanted for ${seconds} s`, ['lines/s', 'lost', 'CPU µs', 'peak MB'])
for (const name of names) {
  const records = healthyPerSecond * seconds
  const { loggedMs, lost, cpu, peak } = await measureContestant(name, { records, perSecond: healthyPerSecond })
  row(name, [
    [(records * 1000) / loggedMs, 0],
    [lost, 0],
    [cpu, 1],
    [peak / 1e6, 0],
  ])
}
header(`${outagePerSecond} lines/s, refused, queue full`, ['CPU µs', 'beyond', 'peak MB'])
let floor = Number.NaN
for (const name of names) {
  const { cpu, peak } = await inOutage(name)
  row(name, [
    [cpu, 1],
    [cpu - floor, 1],
    [peak / 1e6, 0],
  ])
  if (Number.isNaN(floor)) floor = cpu
}
