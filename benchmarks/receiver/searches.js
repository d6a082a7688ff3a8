import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { record, storeRecords, storeRecordsInDatabase } from '../../packages/receiver/test/stored-records.js'
import { median } from '../support/per-call.js'
import { startPostgres } from '../support/postgres-server.js'
import { startReceiverProcess } from '../support/receiver-process.js'

// How long one record and the newest page take while eight expensive searches of another key run without an end, against the same receiver while
// none runs, in turns. RECORDS is how many records the searches look at. DURATION_MS is the length of each turn.
const records = Number(process.env.RECORDS ?? 300_000)
const durationMs = Number(process.env.DURATION_MS ?? 10_000)
const rounds = Number(process.env.ROUNDS ?? 5)
const searches = 8
/** A request of each kind begins this often: the machine is not full of them. */
const everyMs = 20
/** PostgreSQL looks at all records for the first, as each has the word. For the second SQLite does so with the newest 100,000. */
const expensive = ['/api/logs/demo?notText=get', '/api/logs/demo/counts?step=1m&appName=shop&machineName=m3']

/** @typedef {Awaited<ReturnType<typeof startReceiverProcess>>} Receiver */

/** @param {Receiver} receiver @param {string} name */
async function measure(receiver, name) {
  const { url, apiKey } = receiver
  const agent = new Agent({ connections: 64 })
  /** @param {string} path @param {{ key: string, body?: unknown, signal?: AbortSignal }} options */
  const ask = async (path, { key, body, signal }) => {
    const startedAt = performance.now()
    const { statusCode, body: answer } = await request(`${url}${path}`, {
      dispatcher: agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      body: body === undefined ? null : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    })
    const text = await answer.text()
    return { statusCode, text, ms: performance.now() - startedAt }
  }
  const made = await ask('/api/keys', { key: apiKey, body: { scopes: ['read'], name: 'searches' } })
  const { key: searching } = JSON.parse(made.text)
  let number = 0

  /** @param {{ path: string, body?: () => unknown, status: number }} question */
  async function times({ path, body, status }) {
    /** @type {Promise<number>[]} */
    const asked = []
    for (const end = performance.now() + durationMs; performance.now() < end; await setTimeout(everyMs)) {
      const answer = ask(path, { key: apiKey, body: body?.() }).then(({ statusCode, ms }) => {
        if (statusCode !== status) throw new Error(`${path}: ${statusCode}`)
        return ms
      })
      // It is looked at when all have been asked.
      answer.catch(() => {})
      asked.push(answer)
    }
    return Promise.all(asked)
  }
  const turn = async () => {
    const [posts, pages] = await Promise.all([
      times({ path: '/logs/demo', body: () => record(number++), status: 201 }),
      times({ path: '/api/logs/demo', status: 200 }),
    ])
    return { post: slowest(posts), page: slowest(pages) }
  }

  /** @type {Map<number, number>} answers to the searches by their status */
  const answers = new Map()
  /** @type {{ quiet: { post: number, page: number }, busy: { post: number, page: number } }[]} */
  const measured = []
  for (let round = -1; round < rounds; round++) {
    const quiet = await turn()
    const over = new AbortController()
    setMaxListeners(0, over.signal)
    const running = Array.from({ length: searches }, async (_, index) => {
      const path = expensive[index % expensive.length] ?? ''
      while (!over.signal.aborted) {
        try {
          const { statusCode } = await ask(path, { key: searching, signal: over.signal })
          answers.set(statusCode, (answers.get(statusCode) ?? 0) + 1)
        } catch (error) {
          if (!over.signal.aborted) throw error
        }
      }
    })
    const busy = await turn()
    over.abort()
    await Promise.all(running)
    if (round >= 0) measured.push({ quiet, busy })
  }
  await agent.close()
  const answered = [...answers].map(([status, count]) => `${count} × ${status}`).join(', ')
  process.stdout.write(`  ${name}; answers to the searches: ${answered || 'none'}\n`)
  for (const [kind, title] of /** @type {const} */ ([
    ['post', 'POST /logs'],
    ['page', 'the newest page'],
  ])) {
    const cells = [
      median(measured.map(({ quiet }) => quiet[kind])).toFixed(1),
      median(measured.map(({ busy }) => busy[kind])).toFixed(1),
      median(measured.map(({ quiet, busy }) => busy[kind] / quiet[kind])).toFixed(2),
    ]
    process.stdout.write(`  ${title.padEnd(36)}${cells.map((cell) => cell.padStart(10)).join('')}\n`)
  }
}

/** The 99th percentile. @param {number[]} times */
function slowest(times) {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
}

process.stdout.write(
  `  ${`p99 in ms, ${records} records`.padEnd(36)}${['quiet', 'searches', 'ratio'].map((cell) => cell.padStart(10)).join('')}   (budget 3)\n`,
)
const data = mkdtempSync(join(tmpdir(), 'sluice-benchmark-'))
await storeRecords(data, records)
const onFolder = await startReceiverProcess(['--json', '--port', '0', '--data', data, '--new-key'])
await measure(onFolder, 'SQLite')
await onFolder.stop()
rmSync(data, { recursive: true })

if (existsSync('/usr/lib/postgresql')) {
  const server = await startPostgres()
  server.create('searches')
  await storeRecordsInDatabase(server.url('searches'), records)
  const onDatabase = await startReceiverProcess([
    '--json',
    '--port',
    '0',
    '--database',
    server.url('searches'),
    '--new-key',
  ])
  await measure(onDatabase, 'PostgreSQL')
  await onDatabase.stop()
  server.stop()
}
