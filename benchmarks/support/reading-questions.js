import { firstTime, msPerRecord } from '../../packages/receiver/test/stored-records.js'
import { median } from './per-call.js'

const questions = 41

/**
 * Ask a receiver with so many stored records for pages and counts, and print how long each takes.
 *
 * @param {{ url: string, apiKey: string }} receiver
 * @param {Record<string, (round: number) => string>} pages
 */
async function measure({ url, apiKey }, pages) {
  /** @param {string} query a query of records, or `counts?` and a query of counts */
  async function ask(query) {
    const askedAt = performance.now()
    const path = query.startsWith('counts?') ? `/${query}` : `?${query}`
    const response = await fetch(`${url}/api/logs/demo${path}`, { headers: { 'x-api-key': apiKey } })
    const { list = [], total, incomplete = false } = /** @type {any} */ (await response.json())
    return { ms: performance.now() - askedAt, found: list.length, total, incomplete, status: response.status }
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
    const { found = 0, total = 0, incomplete } = answers.at(-1) ?? {}
    process.stdout.write(
      `  ${name.padEnd(50)}${median(times).toFixed(1).padStart(8)}${Math.max(...times)
        .toFixed(1)
        .padStart(9)}${String(found).padStart(7)}${String(total).padStart(10)}${incomplete ? '  incomplete' : ''}\n`,
    )
  }
}

/** The time of a record. @param {number} number */
function iso(number) {
  return new Date(firstTime + Math.floor(number) * msPerRecord).toISOString()
}

/**
 * Ask for pages and counts by the parameters of the API.
 *
 * @param {{ url: string, apiKey: string }} receiver
 * @param {number} records
 */
export function measureReading(receiver, records) {
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
  return measure(receiver, pages)
}

/**
 * Ask for pages by queries, of records with contexts.
 *
 * @param {{ url: string, apiKey: string }} receiver
 * @param {number} records
 */
export function measureQueries(receiver, records) {
  /** @param {(round: number) => string} query @returns {(round: number) => string} */
  const q = (query) => (round) => `q=${encodeURIComponent(query(round))}`
  const scattered = (/** @type {number} */ round) => ((round * 7919 + 17) * 2_654_435_761) % 4_294_967_296
  const middle = (/** @type {number} */ round) => records / 2 + round * 100
  return measure(receiver, {
    everything: q(() => '*'),
    'a word in every message': q(() => 'completed'),
    'a word that there is not': q((round) => `nothing${round}`),
    'two words side by side': q(() => '"request completed"'),
    'a prefix of a word in every message': q(() => 'complet*'),
    'a prefix of 1,111 words': q((round) => `c9${round % 10}*`),
    level: q(() => 'level:error'),
    'level and above': q(() => 'level>=warn'),
    'level, one in a million': q(() => 'level:fatal'),
    'app and env': q(() => 'app:mail env:staging'),
    'host, begin': q(() => 'host:m1*'),
    event: q((round) => `event:${scattered(round) % 200_000}`),
    reqId: q((round) => `reqId:req-${scattered(round).toString(36)}`),
    'reqId that there is not': q((round) => `reqId:none-${round}`),
    'user.id': q((round) => `user.id:c${scattered(round) % 100_003}`),
    'user.id is there': q(() => 'user.id:*'),
    'user.id is not there': q(() => '-user.id:*'),
    method: q(() => 'req.method:POST'),
    'url, begin': q((round) => `req.url:/orders/${1000 + round}*`),
    'status, one in 50': q(() => 'res.statusCode:503'),
    'status of 500 and more, one in 50': q(() => 'res.statusCode>=500'),
    'status of 404 and level': q(() => 'res.statusCode:404 level:info'),
    'a number that no record has': q(() => 'responseTime>300'),
    'a number, one in 1,000 records has it': q(() => 'batch>4000000000'),
    'one of two users': q((round) => `user.id:c${round} OR user.id:c${round + 1}`),
    'errors but for one status': q(() => 'level:error -res.statusCode:503'),
    'all but a word in every message': q(() => '-completed'),
    'a group and a word': q(() => '(app:shop OR app:jobs) completed level>=error'),
    'an hour in the middle': q(
      (round) => `level:error since:${iso(middle(round))} until:${iso(middle(round) + 14_400)}`,
    ),
    'a status of an hour in the middle': q(
      (round) => `res.statusCode>=500 since:${iso(middle(round))} until:${iso(middle(round) + 14_400)}`,
    ),
  })
}
