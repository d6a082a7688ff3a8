import { type PlannedService, plainService, type Schedule } from './schedule.js'

/** Most simulations that a shrinking runs. */
const mostTries = 400

/**
 * The smallest schedule found that still fails: parts are left out one after another, until none can be left out any more (delta debugging
 * of Zeller and Hildebrandt, with parts of one and of half a list).
 */
export async function shrink(schedule: Schedule, fails: (schedule: Schedule) => Promise<boolean>): Promise<Schedule> {
  let smallest = schedule
  let tries = 0
  for (let shrunk = true; shrunk && tries < mostTries; ) {
    shrunk = false
    for (const smaller of smallerOnes(smallest)) {
      if (++tries > mostTries) break
      if (!(await fails(smaller))) continue
      smallest = smaller
      shrunk = true
      break
    }
  }
  return smallest
}

function* smallerOnes(schedule: Schedule): Generator<Schedule> {
  const { faults, flushes, bursts, options, service, processes } = schedule
  for (const less of lessOf(faults)) yield { ...schedule, faults: less }
  for (const less of lessOf(bursts)) yield { ...schedule, bursts: less }
  for (const less of lessOf(flushes)) yield { ...schedule, flushes: less }
  for (const [index, burst] of bursts.entries()) {
    for (const records of lessOf(burst.records)) {
      if (records.length > 0) yield { ...schedule, bursts: bursts.with(index, { ...burst, records }) }
    }
  }
  if (schedule.maxBatch !== undefined) {
    const { maxBatch: _, ...usual } = schedule
    yield usual
  }
  for (const name of Object.keys(options)) {
    const { [name as keyof typeof options]: _, ...fewer } = options
    yield { ...schedule, options: fewer }
  }
  for (const name of Object.keys(plainService) as (keyof PlannedService)[]) {
    if (service[name] !== plainService[name]) {
      yield { ...schedule, service: { ...service, [name]: plainService[name] } }
    }
  }
  if (processes.length > 1) {
    const last = processes.length - 1
    const isOfLast = (part: object) => 'process' in part && part.process === last
    yield {
      ...schedule,
      processes: processes.slice(0, last),
      bursts: bursts.filter((burst) => !isOfLast(burst)),
      flushes: flushes.filter((call) => !isOfLast(call)),
      faults: faults.filter((fault) => !isOfLast(fault)),
    }
  }
  for (const [index, process] of processes.entries()) {
    if (process.end !== 'stays') yield { ...schedule, processes: processes.with(index, { ...process, end: 'stays' }) }
  }
}

/** The list without one half, then without one item. */
function* lessOf<Item>(items: readonly Item[]): Generator<Item[]> {
  const half = Math.floor(items.length / 2)
  if (half > 1) {
    yield items.slice(half)
    yield items.slice(0, half)
  }
  for (const index of items.keys()) yield items.toSpliced(index, 1)
}
