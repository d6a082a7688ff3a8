import { pino } from 'pino'

// Knows pino's target alone, and ends as the argument says.
const logger = pino({ transport: { target: 'sluice/pino' } })
for (let number = 1; number <= 100; number++) logger.info(`line ${number}`)

setImmediate(() => {
  if (process.argv[2] === 'exception') throw new Error('not caught')
  setInterval(() => {}, 1000)
  process.stdout.write('logged\n')
})
