import { parseArgs } from 'node:util'
import { type Coverage, count, expectedStates } from './coverage.js'
import { deriveSchedule, type Schedule } from './schedule.js'
import { shrink } from './shrink.js'
import { simulate } from './simulation.js'

/** The result of a range of seeds, as one process reports it. */
export interface RangeResult {
  readonly simulatedMs: number
  readonly seeds: number
  readonly failures: readonly { readonly seed: number; readonly violation: string }[]
  readonly coverage: readonly (readonly [name: string, times: number])[]
}

/** Each `step`th seed from `from` to below `from + seeds`. */
interface SeedRange {
  readonly from: number
  readonly seeds: number
  readonly step: number
}

/** Simulate a range of seeds. */
async function simulateSeeds(range: SeedRange): Promise<RangeResult> {
  const coverage: Coverage = new Map()
  const failures: { seed: number; violation: string }[] = []
  let simulatedMs = 0
  let seeds = 0
  for (const seed of seedsOf(range)) {
    const verdict = await simulate(deriveSchedule(seed))
    seeds++
    simulatedMs += verdict.simulatedMs
    for (const [name, times] of verdict.coverage) count(coverage, name, times)
    if (verdict.failures.length > 0) failures.push({ seed, violation: verdict.failures[0]! })
  }
  return { simulatedMs, seeds, failures, coverage: [...coverage] }
}

function* seedsOf({ from, seeds, step }: SeedRange): Generator<number> {
  for (let seed = from; seed < from + seeds; seed += step) yield seed
}

/** Print a seed: its schedule, its trace, and a smaller schedule where it fails. */
async function show(seed: number): Promise<void> {
  const schedule = deriveSchedule(seed)
  process.stdout.write(`${describe(schedule)}\n`)
  const verdict = await simulate(schedule, { keepsTrace: true })
  process.stdout.write(`${verdict.trace.join('\n')}\n`)
  if (verdict.failures.length === 0) {
    process.stdout.write('no violation\n')
    return
  }
  process.stdout.write(`\n${verdict.failures.join('\n')}\n\nA smaller schedule that fails:\n`)
  const kind = kindOf(verdict.failures[0]!)
  const fails = async (each: Schedule) => (await simulate(each)).failures.some((text) => kindOf(text) === kind)
  const smaller = await shrink(schedule, fails)
  process.stdout.write(`${describe(smaller)}\n`)
  const again = await simulate(smaller, { keepsTrace: true })
  process.stdout.write(`${again.trace.join('\n')}\n${again.failures.join('\n')}\n`)
  process.exitCode = 1
}

/** The text of a violation without its figures. */
function kindOf(violation: string): string {
  return violation
    .split('\n')[0]!
    .replace(/\[.*|[\d.,]+/g, '')
    .trim()
}

function describe({ bursts, ...schedule }: Schedule): string {
  const shown = bursts.map(({ records, ...burst }) => ({
    ...burst,
    records: records.map(({ id, by, level, message }) => `${id} ${by} ${level} ${message.slice(0, 24)}`).join(', '),
  }))
  return JSON.stringify({ ...schedule, bursts: shown }, undefined, 1)
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
    step: { type: 'string', default: '1' },
    show: { type: 'boolean', default: false },
    states: { type: 'boolean', default: false },
  },
})
const range = { from: Number(values.from), seeds: Number(values.seeds), step: Number(values.step) }
if (values.states) process.stdout.write(JSON.stringify(expectedStates()))
else if (values.show) await show(range.from)
else process.stdout.write(JSON.stringify(await simulateSeeds(range)))
