import { setTimeout } from 'node:timers/promises'

/**
 * Read back what the receiver holds, page by page.
 *
 * @param {{ url: string, apiKey: string, project: string }} receiver
 * @param {'logs' | 'values'} kind
 * @returns {Promise<Record<string, any>[]>}
 */
export async function readBack({ url, apiKey, project }, kind) {
  const records = []
  let before = ''
  for (;;) {
    const page = await fetch(`${url}/api/${kind}/${project}?limit=1000${before}`, { headers: { 'x-api-key': apiKey } })
    const { list } = /** @type {{ list: Record<string, any>[] }} */ (await page.json())
    if (list.length === 0) return records
    records.push(...list)
    before = `&before=${list.at(-1)?.id}`
  }
}

/** Time between two looks for the first record. */
const lookMs = 50

/**
 * Wait for log records, and describe the oldest one.
 *
 * @param {{ url: string, apiKey: string, project: string }} receiver
 * @returns {Promise<string>} its time, level, application and message
 */
export async function firstRecord({ url, apiKey, project }) {
  for (;;) {
    const page = await fetch(`${url}/api/logs/${project}?limit=1000`, { headers: { 'x-api-key': apiKey } })
    const { list } = /** @type {{ list: Record<string, any>[] }} */ (await page.json())
    const record = list.at(-1)
    if (record !== undefined) {
      const [message] = record.message.split('\n')
      return `${new Date(record.timeStamp).toISOString()} ${record.level} ${record.appName} ${message}`
    }
    await setTimeout(lookMs)
  }
}

/**
 * How many there are of each, most first.
 *
 * @param {string[]} names
 * @returns {[string, number][]}
 */
export function tally(names) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)
}

/** @param {string} title @param {[string, number][]} rows */
export function printTable(title, rows) {
  process.stdout.write(`${title}\n`)
  for (const [name, count] of rows) process.stdout.write(`  ${name.padEnd(24)}${String(count).padStart(8)}\n`)
  process.stdout.write('\n')
}
