import { firstTime, msPerRecord } from '../../packages/receiver/test/stored-records.js'
import { median } from './per-call.js'

const questions = 41

/**
 * Ask a receiver with so many stored records for pages and counts, and print how long each takes.
 *
 * @param {{ url: string, apiKey: string }} receiver
 * @param {number} records
 */
export async function measureReading({ url, apiKey }, records) {
  /** @param {string} query a query of records, or `counts?` and a query of counts */
  async function ask(query) {
    const askedAt = performance.now()
    const path = query.startsWith('counts?') ? `/${query}` : `?${query}`
    const response = await fetch(`${url}/api/logs/demo${path}`, { headers: { 'x-api-key': apiKey } })
    const { list = [], total } = /** @type {any} */ (await response.json())
    return { ms: performance.now() - askedAt, found: list.length, total, status: response.status }
  }

  const iso = (/** @type {number} */ number) => new Date(firstTime + number * msPerRecord).toISOString()
  /** @type {Record<string, (round: number) => string>} */
  const pages = {
    'the newest page': () => '',
    'a page in the middle': (round) => `before=${Math.floor(records / 2) + round}`,
    'level, one in 50': () => 'level=error',
    'level, one in a million': () => 'level=fatal',
    'level that there is not': () => 'level=trace',
    'level and appName and env': () => 'level=error&appName=mail&env=staging',
    'level and above': () => 'minLevel=warn',
    'all but two levels': () => 'notLevel=info,debug',
    'eventId, one of 200,000': (round) => `eventId=${(round * 7919) % 200_000}`,
    'machineName and appName': () => 'machineName=m3&appName=mail',
    'text, a word in every message': () => 'text=answered',
    'text, one in 100,000': (round) => `text=c${(round * 7919) % 100_003}`,
    'text, one in 50 and two words': () => 'text=answered 503',
    'text that there is not': (round) => `text=nothing${round}`,
    'text in every message, level, one in 50': () => 'text=answered&level=error',
    'text in every message, level, one in a million': () => 'text=answered&level=fatal',
    'a word left out, in one of 50': () => 'notText=503',
    'a word left out, in every message': () => 'notText=answered',
    'an hour in the middle': (round) =>
      `since=${iso(records / 2 + round * 100)}&until=${iso(records / 2 + round * 100 + 14_400)}`,
    'the same hour, level, one in 50': (round) =>
      `level=error&since=${iso(records / 2 + round * 100)}&until=${iso(records / 2 + round * 100 + 14_400)}`,
    'the same hour, appName and text': (round) =>
      `appName=mail&text=answered&since=${iso(records / 2 + round * 100)}&until=${iso(records / 2 + round * 100 + 14_400)}`,
    'counts, all by hour': () => 'counts?step=1h',
    'counts, an hour by minute, from within a minute': (round) =>
      `counts?step=1m&since=${iso(records / 2 + round * 101)}&until=${iso(records / 2 + round * 101 + 14_400)}`,
    'counts, one by one: eventId': (round) => `counts?step=1h&eventId=${(round * 7919) % 200_000}`,
    'counts, one by one: the newest 100,000 of appName': () => 'counts?step=1h&appName=mail',
  }
  process.stdout.write(
    `  ${'ms for a page of 100, or for counts'.padEnd(50)}${'median'.padStart(8)}${'slowest'.padStart(9)}${'found'.padStart(7)}${'total'.padStart(10)}   (budget 50)\n`,
  )
  for (const [name, query] of Object.entries(pages)) {
    /** @type {Awaited<ReturnType<typeof ask>>[]} */
    const answers = []
    for (let round = 0; round < questions && answers.every(({ status }) => status === 200); round++) {
      answers.push(await ask(query(round)))
    }
    const { status, ms } = answers.at(-1) ?? {}
    if (status !== 200) {
      process.stdout.write(`  ${name.padEnd(50)}answered with ${status} after ${ms?.toFixed(0)} ms\n`)
      continue
    }
    const times = answers.map(({ ms }) => ms)
    const { found = 0, total = 0 } = answers.at(-1) ?? {}
    process.stdout.write(
      `  ${name.padEnd(50)}${median(times).toFixed(1).padStart(8)}${Math.max(...times)
        .toFixed(1)
        .padStart(9)}${String(found).padStart(7)}${String(total).padStart(10)}\n`,
    )
  }
}
