import type { Writable } from 'node:stream'
import build from 'pino-abstract-transport'
import { printLine } from '../diagnostics/stderr.js'
import { Engine } from '../engine/engine.js'
import { IdlePort } from '../engine/idle.js'
import type { Drainable, RecordSink } from '../engine/ports.js'
import { WorkerPosition } from '../engine/worker-position.js'
import { optionNames, optionTable } from '../options/defaults.js'
import { nearestName } from '../options/nearest-name.js'
import type { ResolvedOptions, SluiceOptions } from '../options/options.js'
import { capturePort } from '../process/capture.js'
import { configure } from '../process/configure.js'
import { processRegistry } from '../process/registry.js'
import { mapPinoLine, pinoMapper } from '../records/pino-line.js'
import { systemClock } from '../runtime/clock.js'
import { isNews } from '../runtime/shared-state.js'
import { LineIntake } from './line-intake.js'
import { learnedBase, levelGate, type PinoLevels } from './pino-logger.js'

/** Options of the target: they cross into pino's worker, so that none of them can be a function. */
export type PinoTargetOptions = Omit<SluiceOptions, 'onError'>

/** What pino tells its transports of the logger. */
interface PinoConfig {
  readonly levels?: PinoLevels
  readonly messageKey?: string
  readonly errorKey?: string
}

/**
 * pino's target: runs in pino's worker and delivers from there. Options that are left out come from the environment.
 *
 *     pino({ transport: { target: 'sluice/pino' } })
 *
 * An option whose name is none of Sluice's, and like none, may be a later pino's own: it is ignored, and told on stderr.
 *
 * @throws {ConfigError} at the start of the worker, which pino emits as `error` of the transport
 */
export async function pinoTarget(options: PinoTargetOptions = {}): Promise<Writable> {
  const { own, unknown } = targetOptions(options)
  for (const name of unknown) tellUnknown(name)
  const { state, options: resolved } = configure(own, 'logs')
  const engine =
    state === 'off' ? new IdlePort(resolved) : new Engine(resolved, { kinds: ['logs'], position: ownPosition() })
  processRegistry().add(engine)
  const port = () => {
    processRegistry().capture.notice()
    return capturePort(resolved) ?? engine
  }
  // What pino tells of the logger comes by a stream of this package, and nothing else.
  const config = await build(() => {}, { expectPinoConfig: true, metadata: false })
  const stream = new LineIntake({
    take: lineMapper(config as PinoConfig, resolved, port),
    close: async () => {
      await engine.close({ timeoutMs: processRegistry().timeToClose(engine) })
      processRegistry().retire(engine)
    },
  })
  config.on('error', (error) => stream.emit('error', error))
  return Object.assign(stream, { flush: flushOf(port, resolved.shutdownTimeoutMs) })
}

function tellUnknown(name: string): void {
  const text = `unknown option ${name.slice(0, 60)} of the pino target is ignored; records are delivered: take it out, or see the README for the names`
  if (isNews(text)) printLine(text)
}

/** Engines of one of pino's workers share nothing: each is the only one of its position. */
function ownPosition(): { readonly worker: WorkerPosition; readonly engine: number } {
  const worker = new WorkerPosition()
  worker.nameThread()
  return { worker, engine: 1 }
}

/**
 * pino's `logger.flush(callback)` waits for this where the transport is its only target. thread-stream puts flushes in a row, calls the
 * next one from the callback of the one before, and keeps the process alive meanwhile: those that have waited for one which gave up
 * give up with it, or an application that flushes again and again in an outage would live on for minutes.
 */
function flushOf(port: () => Drainable, timeoutMs: number): (callback: (error?: Error) => void) => void {
  let givingUp = false
  return (callback) => {
    if (givingUp) {
      callback()
      return
    }
    const deadline = systemClock.now() + timeoutMs
    void port()
      .flush()
      .then(() => {
        givingUp = systemClock.now() >= deadline
        try {
          callback()
        } finally {
          givingUp = false
        }
      })
  }
}

/** What becomes of each line. */
function lineMapper(
  { levels, messageKey, errorKey }: PinoConfig,
  options: ResolvedOptions,
  port: () => RecordSink,
): (line: string) => void {
  const map = pinoMapper({ ...options, labels: levels?.labels, messageKey, errorKey })
  const passes = levelGate(options.level, levels?.values)
  const isBase = learnedBase()
  return (line) => {
    const engine = port()
    if (engine instanceof IdlePort) return
    try {
      const mapped = mapPinoLine(map, line, { messageKey, arrivedAt: Date.now(), isBase })
      if (passes(mapped)) engine.log(mapped)
    } catch (error) {
      // A throw here would end the worker, and with it the application.
      engine.unmapped(error)
    }
  }
}

/** The options with which pino started a target. */
export interface TargetOptions {
  /** To be checked as all options are: Sluice's own, and names that look like a misspelling of one. */
  readonly own: SluiceOptions
  /** Names that are none of Sluice's, and not known to be pino's: somebody should hear of them, and the target goes on. */
  readonly unknown: readonly string[]
}

/** Names that pino 7 to 10 and thread-stream put beside the options of a target. */
const addedByPino: ReadonlySet<string> = new Set(['levels', 'dedupe', 'targets', 'pipelines'])
/** They name most of what they add after themselves. */
const namedByPino = /^(pino|\$)/i

/**
 * Part the options of a target from what pino puts among them. A later pino may put there what this version does not know: that must not
 * end the application's logging.
 */
export function targetOptions(written: object): TargetOptions {
  const own: Record<string, unknown> = {}
  const unknown: string[] = []
  for (const [name, value] of Object.entries(written)) {
    if (Object.hasOwn(optionTable, name)) own[name] = value
    else if (addedByPino.has(name) || namedByPino.test(name)) continue
    else if (nearestName(name, optionNames) !== undefined) own[name] = value
    else unknown.push(name)
  }
  return { own, unknown }
}
