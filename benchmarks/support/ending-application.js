import { writeSync } from 'node:fs'
import pino from 'pino'
import { track } from 'sluice'
import { sluicePino } from 'sluice/pino'
import { SluiceTransport } from 'sluice/winston'
import winston from 'winston'

// An application that logs once in one way, lives on for a while, says that it ends, and ends in one way.
const [way = '', end = '', lives = ''] = process.argv.slice(2)
/** @type {Record<string, () => (text: string) => unknown>} */
const ways = {
  'pino target': () => {
    const logger = pino({ transport: { target: 'sluice/pino' } })
    return (text) => logger.info(text)
  },
  'sluicePino()': () => {
    const logger = pino(sluicePino())
    return (text) => logger.info(text)
  },
  winston: () => {
    const logger = winston.createLogger({ transports: [new SluiceTransport()] })
    return (text) => logger.info(text)
  },
  track: () => () => track(1),
}
const ends = {
  natural: () => {},
  'process.exit()': () => process.exit(),
  SIGTERM: () => {
    setInterval(() => {}, 60_000)
    process.kill(process.pid, 'SIGTERM')
  },
}

ways[way]?.()('a record')
const go = () => {
  writeSync(1, 'end\n')
  ends[/** @type {keyof typeof ends} */ (end)]()
}
if (lives === '0') go()
else setTimeout(go, Number(lives))
