import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { everything } from '../../../../test/support/full.js'
import { type Ended, startProgram } from '../../../../test/support/programs.js'
import { killAll, ready } from '../processes.js'
import { startPair } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { freePort, queryOf, stopServers } from './server.js'

afterEach(async () => {
  await killAll()
  await stopServers()
})

const loggers = ['pino', 'winston', 'pino'] as const
const perApplication = everything ? 10_000 : 600
/** Logs and values of all applications. */
const all = 2 * loggers.length * perApplication

async function startWithStandby() {
  const { database, ...pair } = await startPair()
  const startReceiver = (port: number) => ready('--database', database, '--port', String(port))
  const receivers = [await startReceiver(await freePort()), await startReceiver(await freePort())] as const
  return { ...pair, startReceiver, receivers }
}

type Team = Awaited<ReturnType<typeof startWithStandby>>

/** Starts the applications, by turns for one receiver and the other. Resolves with their ends. */
function startApplications({ receivers }: Team): Promise<Ended[]> {
  const { apiKey } = receivers[0]
  const started = loggers.map((logger, index) =>
    startProgram('numbered-records.js', {
      variables: {
        SLUICE_URL: receivers[index % 2]!.url,
        SLUICE_API_KEY: apiKey!,
        SLUICE_BUCKET: 'demo',
        SLUICE_APP_NAME: `application ${index}`,
        LOGGER: logger,
        COUNT: String(perApplication),
      },
    }),
  )
  onTestFinished(() => {
    for (const { process } of started) process.kill('SIGKILL')
  })
  return Promise.all(started.map(({ ended }) => ended))
}

/** Resolves when the share of all records is stored. */
async function stored(url: string, share: number): Promise<void> {
  const count = async () => (await queryOf<{ count: string }>(url, 'SELECT count(*) FROM sluice_records'))[0]!.count
  await expect.poll(async () => Number(await count()), { interval: 20 }).toBeGreaterThan(share * all)
}

/** Kills the first receiver. Returns a function that starts it again on its port. */
async function killReceiver({ receivers: [{ child, exit, url }], startReceiver }: Team) {
  child.kill('SIGKILL')
  await exit
  return () => startReceiver(Number(new URL(url).port))
}

/** The kind, application and number of each record, in order. */
async function storedRecords(url: string): Promise<string[]> {
  const rows = await queryOf<{ name: string }>(
    url,
    `SELECT kind || ' ' || (record::json ->> 'appName') || ' ' || coalesce(record::json ->> 'message', record::json ->> 'eventId') AS name
       FROM sluice_records`,
  )
  return rows.map(({ name }) => name).sort()
}

function expectedRecords(): string[] {
  const numbers = Array.from({ length: perApplication }, (_, number) => number)
  const names = loggers.flatMap((_, index) =>
    ['logs', 'values'].flatMap((kind) => numbers.map((number) => `${kind} application ${index} ${number}`)),
  )
  return names.sort()
}

/** An application may tell of an outage that lasts, and of its end. */
const outage = /^sluice: (.* has delivered nothing for 10 s, records are kept: |lane \w+ of bucket \w+ resumed$)/

async function expectLedgers(ends: readonly Ended[], url: string): Promise<void> {
  for (const { code, signal, stderr } of ends) {
    expect({ code, signal }).toEqual({ code: 0, signal: null })
    expect(stderr.split('\n').filter((line) => line !== '' && !outage.test(line))).toEqual([])
  }
  const ledgers = ends.map(({ stdout }) => JSON.parse(stdout))
  for (const ledger of ledgers) {
    expect(ledger).toMatchObject({ accepted: 2 * perApplication, delivered: 2 * perApplication, rejected: 0 })
  }
  const records = await storedRecords(url)
  expect(ledgers.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(records.length)
  expect(records).toEqual(expectedRecords())
}

describe.skipIf(!postgresInstalled)(
  withPostgres('the ledgers of three applications equal the table on the standby'),
  { timeout: everything ? 600_000 : 120_000 },
  () => {
    it('when a receiver is killed, and later the primary', async () => {
      const team = await startWithStandby()
      const applications = startApplications(team)
      await stored(team.url, 0.2)
      const startAgain = await killReceiver(team)
      await stored(team.url, 0.3)
      await startAgain()
      await stored(team.url, 0.6)
      await team.cluster.primary.kill('SIGKILL')
      await team.standby.promote()
      await expectLedgers(await applications, team.standbyUrl)
    })

    it('when both are killed at the same time', async () => {
      const team = await startWithStandby()
      const applications = startApplications(team)
      await stored(team.url, 0.4)
      const [startAgain] = await Promise.all([killReceiver(team), team.cluster.primary.kill('SIGKILL')])
      await team.standby.promote()
      await startAgain()
      await expectLedgers(await applications, team.standbyUrl)
    })
  },
)
