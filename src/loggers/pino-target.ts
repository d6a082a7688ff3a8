import type { Writable } from 'node:stream'
import { printLine } from '../diagnostics/stderr.js'
import { Engine } from '../engine/engine.js'
import { IdlePort } from '../engine/idle.js'
import { WorkerPosition } from '../engine/worker-position.js'
import { ConfigError } from '../errors/sluice-error.js'
import { nearestName } from '../options/nearest-name.js'
import type { ResolvedOptions, SluiceOptions } from '../options/options.js'
import { table } from '../options/table.js'
import { captureEngine } from '../process/capture-engine.js'
import { configureOrOff } from '../process/configure.js'
import { watchEndInMainThread } from '../process/main-thread.js'
import { processRegistry } from '../process/registry.js'
import { LevelNames } from '../records/level.js'
import type { LineLevel } from '../records/line-head.js'
import { sharedStyle } from '../records/line-style.js'
import { setImmediate, systemClock } from '../runtime/clock.js'
import { overridingLevel } from '../runtime/level-override.js'
import { ownFields } from '../runtime/own-fields.js'
import { isNews } from '../runtime/shared-state.js'
import { type CurrentGatePlan, currentGate } from './level-gate.js'
import { LineIntake, type LineIntakePlan } from './line-intake.js'
import type { PinoConfig, SentConfig } from './pino-logger.js'

/** Options of the target. They are sent to pino's worker, so none of them can be a function. */
export type PinoTargetOptions = Omit<SluiceOptions, 'onError' | 'waitUntil'>

type Port = Engine | IdlePort

/** See `lazy-pino-target.ts`. */
export function pinoTarget(options: PinoTargetOptions, config: SentConfig): Writable {
  // Before the worker is ready: an application that ends soon would miss an error that comes later.
  const { own, unknown } = targetOptions(withoutPinos(options))
  refuseFunctions(own)
  for (const name of unknown) tellUnknown(name)
  const { state, options: resolved, sources } = configureOrOff(own, 'logs')
  const engine =
    state === 'off'
      ? new IdlePort(resolved)
      : new Engine(resolved, { kinds: ['logs'], position: ownPosition(), gathers: true })
  processRegistry().add(engine)
  if (sources.appName === 'option') processRegistry().nameLogger?.(resolved.appName)
  const port = (): Port => {
    processRegistry().capture.notice()
    return captureEngine(resolved) ?? engine
  }
  // Once the worker is ready: loading in the main thread takes time from its start on a machine with few cores.
  if (state === 'on' && resolved.handleSignals) setImmediate(watchEndInMainThread)
  const taker = (sent: PinoConfig | undefined, isLate = true) =>
    lineTaker(sent ?? {}, { options: resolved, source: sources.level, isLate }, port)
  let sent = config.current
  // A worker that is ready must not fail: pino would throw in its flush at a natural end.
  let take = sent === undefined ? undefined : taker(sent, false)
  const stream = new LineIntake({
    take: (line) => {
      const before = sent
      // The logger may have been made just now, and with a transport behind another stream there is none.
      sent = config.current
      if (take === undefined || sent !== before) take = taker(sent)
      take(line)
    },
    isRoomy: () => !(engine instanceof Engine) || engine.isRoomy,
    close: async () => {
      await engine.close({ timeoutMs: processRegistry().timeToClose(engine), brief: true })
      processRegistry().retire(engine)
    },
  })
  return Object.assign(stream, { flush: flushOf(port, resolved.shutdownTimeoutMs) })
}

function refuseFunctions(options: SluiceOptions): void {
  const option = (['onError', 'waitUntil'] as const).find((name) => options[name] !== undefined)
  if (option === undefined) return
  throw new ConfigError({
    code: 'SLUICE_CONFIG_INVALID',
    option,
    value: options[option],
    message: `option ${option}: expected no function in a pino target, which runs in a worker; use sluicePino()`,
  })
}

function tellUnknown(name: string): void {
  const text = `unknown option ${name.slice(0, 60)} of the pino target is ignored, records are delivered: remove it, or see the README for the names of options`
  if (isNews(text)) printLine(text)
}

/** Engines in pino's workers share nothing: each one has a position of its own. */
function ownPosition(): { readonly worker: WorkerPosition; readonly engine: number } {
  const worker = new WorkerPosition()
  worker.nameThread()
  return { worker, engine: 1 }
}

/**
 * The `flush` that pino's `logger.flush(callback)` waits for if the transport is its only target. thread-stream queues flushes, starts
 * each one in the callback of the one before, and keeps the process alive meanwhile. So queued flushes resolve together with one that
 * timed out. Otherwise an application that flushes repeatedly in an outage would not end for minutes.
 */
function flushOf(port: () => Port, timeoutMs: number): (callback: (error?: Error) => void) => void {
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

/** Gives each line to the engine, with what is known of its logger. */
function lineTaker(
  { levels, messageKey, errorKey }: PinoConfig,
  { options, ...gate }: { readonly options: ResolvedOptions } & Pick<CurrentGatePlan, 'source' | 'isLate'>,
  port: () => Port,
): LineIntakePlan['take'] {
  const style = sharedStyle({ labels: levels?.labels, messageKey, errorKey })
  const passes = currentGate({
    level: options.level,
    ...gate,
    values: levels?.values,
    report: (text) => port().misused('SLUICE_CONFIG_INVALID', text),
  })
  const names = new LevelNames(levels?.labels)
  const isBelow = (level: LineLevel) => !passes(level)
  /** Where the level is not known before the line is read, the reader asks. */
  const belowOf = (line: string) => {
    const number = firstLevel(line)
    return number === undefined ? isBelow : isBelow({ number, severity: names.severityOf(number) })
  }
  const hasGate = () => options.level !== undefined || overridingLevel() !== undefined
  return (line) => {
    const below = hasGate() && belowOf(line)
    port().line(line, { style, arrivedAt: Date.now(), below })
  }
}

/** The number of the level of a line that begins with it, as pino writes them. */
function firstLevel(line: string): number | undefined {
  const [, digits] = /^\{"level":(\d{1,6}),/.exec(line) ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** The options of a target, without those that pino adds. */
export interface TargetOptions {
  /** Options to be checked: Sluice's own, and names that look like a misspelling of one. */
  readonly own: SluiceOptions
  /** Names that are neither Sluice's nor known to be pino's. The target ignores them with a line on stderr. */
  readonly unknown: readonly string[]
}

/** Separates options to be checked from names that a later pino may add, which must not end the application's logging. */
export function targetOptions(written: object): TargetOptions {
  const own = ownFields<Record<string, unknown>>({})
  const unknown: string[] = []
  for (const [name, value] of Object.entries(written)) {
    if (Object.hasOwn(table, name)) own[name] = value
    else if (nearestName(name, Object.keys(table)) !== undefined) own[name] = value
    else unknown.push(name)
  }
  return { own, unknown }
}

/** Names that pino 7 to 10 and thread-stream add to the options of a target. */
const addedByPino: ReadonlySet<string> = new Set(['levels', 'dedupe', 'targets', 'pipelines'])
/** Most names that they add begin like this. */
const namedByPino = /^(pino|\$)/i

/** The options of a target as they are written. */
export function withoutPinos(options: object): PinoTargetOptions {
  return Object.fromEntries(
    Object.entries(options).filter(([name]) => !addedByPino.has(name) && !namedByPino.test(name)),
  )
}
