import { gunzipSync } from 'node:zlib'

/** Records are numbered from here, so that every number has as many digits. */
export const firstNumber = 1_000_000
const digits = 7

/**
 * Counts the records in the bodies that arrived: each holds a mark and its number once. Unpacking and counting wait until somebody asks,
 * so that the server stays cheap.
 *
 * @param {{ mark: string, snappy?: boolean }} kind
 */
export function recordCount({ mark, snappy = false }) {
  const needle = Buffer.from(mark)
  /** When each number arrived first, in ms; 0 while it has not. */
  const arrivedAt = new Float64Array(10 ** digits - firstNumber)
  /** @type {{ at: number, bytes: Buffer, encoding: string }[]} */
  let waiting = []
  let waitingBytes = 0
  const totals = { distinct: 0, repeated: 0, lastAt: 0 }

  /** @param {{ bytes: Buffer, encoding: string }} arrival */
  async function unpacked({ bytes, encoding }) {
    if (encoding === 'gzip') return gunzipSync(bytes)
    if (encoding !== '') throw new Error(`content-encoding ${encoding} is not understood`)
    if (!snappy) return bytes
    // Of a rival's dependencies: a plain string, for the type check runs without them.
    const library = 'snappy'
    return /** @type {Buffer} */ (
      await (await import(library)).uncompress(bytes.subarray(bytes.indexOf('\r\n\r\n') + 4))
    )
  }

  async function countWaiting() {
    const arrivals = waiting
    waiting = []
    waitingBytes = 0
    for (const arrival of arrivals) {
      const text = await unpacked(arrival)
      for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
        const from = at + needle.length
        const number = Number(text.toString('latin1', from, from + digits)) - firstNumber
        if (arrivedAt[number] === 0) {
          arrivedAt[number] = arrival.at
          totals.distinct++
          totals.lastAt = arrival.at
        } else totals.repeated++
      }
    }
    return totals
  }

  let counting = Promise.resolve(totals)
  const count = () => {
    counting = counting.then(countWaiting)
    return counting
  }
  return {
    count,
    /** Of the first so many that have been counted. @param {number} records */
    arrivedAt: (records) => [...arrivedAt.subarray(0, records)],
    /** @param {{ at: number, bytes: Buffer, encoding: string }} arrival */
    add(arrival) {
      waiting.push(arrival)
      waitingBytes += arrival.bytes.length
      if (waitingBytes > 2 ** 28) void count()
    },
  }
}
