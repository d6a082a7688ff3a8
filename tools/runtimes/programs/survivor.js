import { ways } from './ways.js'

// Logs before and after an exception that does not end it.
if ('Deno' in globalThis) {
  const target = /** @type {EventTarget} */ (/** @type {unknown} */ (globalThis))
  target.addEventListener('error', (event) => event.preventDefault())
} else process.on('uncaughtException', () => {})

const log = await ways.winston?.()
for (let number = 1; number <= 50; number++) log?.(number)
setTimeout(() => {
  for (let number = 51; number <= 100; number++) log?.(number)
}, 100)
setImmediate(() => {
  throw new Error('this is survived')
})
