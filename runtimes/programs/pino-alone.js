import { pino } from 'pino'

// Knows pino's target alone, and stays.
const logger = pino({ transport: { target: 'sluice/pino' } })
for (let number = 1; number <= 100; number++) logger.info(`line ${number}`)
setInterval(() => {}, 1000)
process.stdout.write('logged\n')
