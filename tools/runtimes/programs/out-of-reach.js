import { setTimeout as after } from 'node:timers/promises'
import { pino } from 'pino'
import 'sluice'

// A logger that nobody can reach any more while what it has logged is on its way, and memory that is used: in Node 26 such a logger
// goes with the next collection of young objects.
function logOnce() {
  const logger = pino({ transport: { target: 'sluice/pino' } })
  for (let number = 1; number <= 100; number++) logger.info(`line ${number}`)
}

logOnce()
for (let turn = 0; turn < 100; turn++) {
  Array.from({ length: 20_000 }, (_, number) => ({ number }))
  await after(10)
}
