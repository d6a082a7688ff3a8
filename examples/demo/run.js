import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { firstRecord, printTable, readBack, tally } from './account.js'
import { events } from './events.js'
import { goShopping, keepShopping } from './shoppers.js'

// The main job, end to end: a receiver, an application that logs and tracks, some thousand requests, a SIGTERM, and the account.
// With --stay the receiver, its page and a shop then go on until Ctrl-C.
const stay = process.argv.includes('--stay')
const endSignals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])
const leave = () => process.exit(130)
if (stay) for (const signal of endSignals) process.on(signal, leave)

const folder = mkdtempSync(join(tmpdir(), 'sluice-demo-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const catalogue = join(folder, 'events.json')
writeFileSync(catalogue, JSON.stringify(events))

say('Starting a receiver and a shop …')
const choices = ['--port', '0', '--data', join(folder, 'data'), '--events', catalogue, '--json']
const receiverProcess = start('../../packages/receiver/dist/cli.js', choices, {})
const receiver = JSON.parse(await receiverProcess.line())
say(`receiver     ${receiver.url}`)

const application = startShop()
const shop = await application.line()
say(`shop         ${shop}`)
const shopping = goShopping(shop)
say(`first record ${await firstRecord(receiver)}`)
say('400 shoppers come …')
say(`driven by    ${await shopping} requests, then SIGTERM\n`)

application.child.kill('SIGTERM')
const ledger = JSON.parse(await application.line())
await application.ended

const logs = await readBack(receiver, 'logs')
const values = await readBack(receiver, 'values')
const names = new Map(Object.entries(events).map(([name, number]) => [number, name]))
printTable('log records by level', tally(logs.map(({ level }) => level)))
printTable('value records by event', tally(values.map(({ eventId }) => `${eventId} ${names.get(eventId)}`)))

const dropped = Object.values(ledger.dropped).reduce((sum, count) => sum + Number(count), 0)
const total = logs.length + values.length
const agree = ledger.accepted === total && ledger.delivered === total && total > 0
say(
  `ledger    accepted=${ledger.accepted} delivered=${ledger.delivered} rejected=${ledger.rejected} dropped=${dropped}`,
)
say(`receiver  logs=${logs.length} values=${values.length} total=${total}`)
process.exitCode = agree ? 0 : 1

if (stay) await goOn()
else if (process.stdin.isTTY) {
  say(
    `\nthe page      ${receiver.page}\nIt shows these records until Ctrl+C. With npm run demo -- --stay the shop goes on, too.`,
  )
  await once(process, 'SIGINT')
} else
  say(`\nthe page was ${receiver.page}\nIt ends with the receiver. npm run demo -- --stay keeps both, and the shop.`)
receiverProcess.child.kill('SIGTERM')
await receiverProcess.ended

/** Keep a shop and its shoppers running until a signal comes. */
async function goOn() {
  const end = new AbortController()
  for (const signal of endSignals) {
    process.off(signal, leave)
    process.once(signal, () => end.abort())
  }
  const application = startShop()
  const shopping = keepShopping(await application.line(), end.signal)
  say(`\nthe page      ${receiver.page}\nThe shop goes on. Ctrl+C ends it.`)
  await shopping
  application.child.kill('SIGTERM')
  const { accepted, delivered } = JSON.parse(await application.line())
  await application.ended
  say(`\n${delivered} of ${accepted} records delivered meanwhile`)
}

/** The application, which delivers to the receiver. */
function startShop() {
  return start('application.js', [], {
    SLUICE_URL: receiver.url,
    SLUICE_API_KEY: receiver.apiKey,
    SLUICE_BUCKET: receiver.project,
    SLUICE_APP_NAME: 'shop',
    SLUICE_ENV: 'demo',
  })
}

/**
 * Start a program of this repository.
 *
 * @param {string} path beside this file
 * @param {string[]} args
 * @param {Record<string, string>} env
 */
function start(path, args, env) {
  const child = spawn(process.execPath, [fileURLToPath(new URL(path, import.meta.url)), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Ctrl-C is a signal to all programs of the terminal. The receiver must outlast the shop.
    detached: stay,
  })
  const ended = once(child, 'exit')
  process.on('exit', () => child.kill())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    ended,
    /** @returns {Promise<string>} the next line that it prints */
    async line() {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`${path} ended before it was ready`)
      return value
    },
  }
}

/** @param {string} text */
function say(text) {
  process.stdout.write(`${text}\n`)
}
