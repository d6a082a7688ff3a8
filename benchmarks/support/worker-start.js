import pino from 'pino'

// Prints how many ms pino's worker takes to be ready with the target that is named.
const before = performance.now()
const stream = pino.transport({ target: process.argv[2] ?? '' })
// A target that asks for pino's configuration is ready when it has it.
pino(stream)
// pino's worker keeps no process alive.
const alive = setInterval(() => {}, 1000)
stream.once('ready', () => {
  process.stdout.write(JSON.stringify({ ms: performance.now() - before, bytes: 0 }))
  clearInterval(alive)
})
