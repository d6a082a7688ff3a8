import { flush } from 'sluice'
import { ways } from './ways.js'

// Logs a hundred records in the way that the first argument names, and ends as the second one says.
const [way = '', end = ''] = process.argv.slice(2)

/** @type {Readonly<Record<string, () => unknown>>} */
const ends = {
  'natural end': () => {},
  exit: () => process.exit(3),
  SIGTERM: () => stay('logged'),
  flush: async () => {
    await flush()
    stay('flushed')
  },
  exception: () => {
    throw new Error('not caught')
  },
}

/** @param {string} said */
function stay(said) {
  setInterval(() => {}, 1000)
  process.stdout.write(`${said}\n`)
}

const log = await ways[way]?.()
for (let number = 1; number <= 100; number++) log?.(number)
setImmediate(() => ends[end]?.())
