import { measureContestant } from '../support/contest.js'
import { contestants } from '../support/contestants/contestants.js'
import { median } from '../support/per-call.js'
import { versionsOf } from '../support/versions.js'

// The same records through Sluice and through others, each run in a process of its own, to a server that understands as much of each
// protocol as it takes to count them: what do they cost, and how many arrive?
const records = Number(process.env.RECORDS ?? 100_000)
const rounds = Number(process.env.ROUNDS ?? 5)
/** `ONLY=winston,loki`: those whose names hold one of these. */
const only = (process.env.ONLY ?? '').split(',')
const names = Object.keys(contestants).filter((name) => only.some((part) => name.includes(part)))
/** A contestant that takes longer than this is measured once. */
const tooSlowMs = 60_000

/** @type {Record<string, import('../support/contest.js').Result[]>} */
const results = Object.fromEntries(names.map((name) => [name, []]))
/** @type {Record<string, string>} */
const failures = {}
for (let round = 0; round < rounds; round++) {
  for (const [name, before] of Object.entries(results)) {
    if (failures[name] !== undefined || before.some(({ wallMs }) => wallMs > tooSlowMs)) continue
    try {
      before.push(await measureContestant(name, { records }))
    } catch (error) {
      failures[name] = String(error)
    }
  }
}

/** The contestant that only logs, as this one does before it sends anything. @param {string} name */
function floorOf(name) {
  if (name.includes('winston')) return 'winston, a transport that does nothing'
  return name.includes('pino') ? 'pino, a worker that discards' : undefined
}

/** CPU beyond that of the floor; NaN where there is none, or it was not measured. @param {string} name */
function cpuBeyondFloor(name) {
  const floor = floorOf(name)
  if (floor === undefined || contestants[name]?.server === null) return Number.NaN
  const cpuOf = (/** @type {string} */ one) => median((results[one] ?? []).map(({ cpu }) => cpu))
  return cpuOf(name) - cpuOf(floor)
}

const columns = ['ns/call', 'CPU µs', 'beyond', 'of it app', 'seconds', 'peak MB', 'lost']
  .map((title) => title.padStart(11))
  .join('')
process.stdout.write(`  ${`${records} records, median of ${rounds}`.padEnd(42)}${columns}\n`)
for (const [name, all] of Object.entries(results)) {
  if (all.length === 0) {
    process.stdout.write(`  ${name.padEnd(42)}  ${failures[name]}\n`)
    continue
  }
  const shown = (/** @type {number} */ value, digits = 0) =>
    (Number.isNaN(value) ? '–' : value.toFixed(digits)).padStart(11)
  const cell = (/** @type {(result: import('../support/contest.js').Result) => number} */ figure, digits = 0) =>
    shown(median(all.map(figure)), digits)
  const row = [
    cell(({ nanosecondsPerCall }) => nanosecondsPerCall),
    cell(({ cpu }) => cpu, 1),
    shown(cpuBeyondFloor(name), 1),
    cell(({ applicationCpu }) => applicationCpu, 1),
    cell(({ wallMs }) => wallMs / 1000, 2),
    cell(({ peak }) => peak / 1e6),
    cell(({ lost }) => lost),
  ]
  const repeated = Math.max(...all.map((result) => result.repeated))
  const notes = [repeated > 0 ? `${repeated} arrived twice` : '', all[0]?.complaint ?? ''].filter((note) => note !== '')
  process.stdout.write(`  ${name.padEnd(42)}${row.join('')}${notes.map((note) => `  ${note.slice(0, 80)}`).join('')}\n`)
}
const libraries = Object.entries(contestants).flatMap(([name, { library }]) => (names.includes(name) && library) || [])
process.stdout.write(`  ${versionsOf([...libraries, 'pino', 'winston']).join(', ')}\n`)
