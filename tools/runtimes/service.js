import { startReceiver } from 'sluice-receiver'

/**
 * @typedef {object} Bucket
 * @property {Record<string, string>} variables which deliver to it
 * @property {() => Promise<{ logs: Arrived[], values: Arrived[] }>} arrived
 */

/** @typedef {{ message?: string, eventId?: number, runtime: number }} Arrived */

/** The real receiver, with a bucket for each run. */
export async function startService() {
  const { url, apiKey, close } = await startReceiver({ port: 0, data: ':memory:' })
  const headers = { 'x-api-key': apiKey ?? '', 'content-type': 'application/json' }
  let buckets = 0

  /** @param {'logs' | 'values'} kind @param {string} bucket @returns {Promise<Arrived[]>} */
  const read = async (kind, bucket) => {
    const response = await fetch(`${url}/api/${kind}/${bucket}?limit=1000`, { headers })
    const { list } = /** @type {{ list: Arrived[] }} */ (await response.json())
    return list
  }

  return {
    close,
    /** @returns {Promise<Bucket>} */
    async newBucket() {
      const id = `run-${++buckets}`
      await fetch(`${url}/api/projects`, { method: 'POST', headers, body: JSON.stringify({ id }) })
      return {
        variables: { SLUICE_URL: url, SLUICE_API_KEY: apiKey ?? '', SLUICE_BUCKET: id },
        arrived: async () => ({ logs: await read('logs', id), values: await read('values', id) }),
      }
    },
  }
}
