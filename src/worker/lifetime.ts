import type { Engine } from './engine.js'
import { processEngines } from './process-engines.js'
import { ledgerLine, printLine } from './telling.js'

/** An application that logs in its own `beforeExit` listener would go round for ever: what it logs after this is not waited for. */
const maxDrains = 3

let watching = false

/**
 * Deliver before a natural end of the process, and say in one line what could not be delivered at any end that this thread
 * sees. Nothing here keeps the process alive but an unfinished drain, up to its deadline.
 */
export function watchLifetime(): void {
  if (watching) return
  watching = true
  let drains = 0
  let drained = -1

  process.on('beforeExit', () => {
    const engines = [...processEngines().local].filter(({ closed }) => !closed)
    const accepted = engines.reduce((sum, engine) => sum + engine.stats().accepted, 0)
    const pending = engines.some((engine) => undelivered(engine) > 0)
    // The event comes again after each drain: one for what is new, none for what could not be delivered.
    if (!pending || accepted === drained || drains === maxDrains) return
    drains++
    drained = accepted
    void Promise.all(engines.map((engine) => engine.flush()))
  })

  process.on('exit', () => {
    const engines = [...processEngines().local].filter(({ closed }) => !closed)
    const lost = engines.reduce((sum, engine) => sum + undelivered(engine), 0)
    if (lost > 0) printLine(`${lost} record${lost === 1 ? '' : 's'} not delivered before the end of the process`)
    for (const engine of engines) if (engine.options.debug) printLine(ledgerLine(engine.stats()))
  })
}

function undelivered(engine: Pick<Engine, 'stats'>): number {
  const { queued, inFlight } = engine.stats()
  return queued + inFlight
}
