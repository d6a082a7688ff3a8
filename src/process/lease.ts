import { printLine } from '../diagnostics/stderr.js'
import { IdlePort } from '../engine/idle.js'
import type { RecordPort } from '../engine/ports.js'
import type { ResolvedOptions, SluiceOptions, Sources } from '../options/options.js'
import type { Need, Resolution } from '../options/resolve.js'
import { systemClock } from '../runtime/clock.js'
import { isNews } from '../runtime/shared-state.js'
import { currentCapture } from './capture.js'
import { captureEngine } from './capture-engine.js'
import { configureOrOff } from './configure.js'
import { processRegistry } from './registry.js'
import { joinEngine, leaveEngine, type SharedEngine } from './shared-engines.js'

const nowOn = 'on: the variables are set now, records are sent from here on'

/** So often a Sluice that is off looks at the environment again, in milliseconds. */
const lookEveryMs = 1000

/**
 * A lease for the options of a logger or of `track`.
 *
 * @throws {ConfigError} for a mistake in code; see {@link configureOrOff}
 */
export function leaseFor(user: SluiceOptions, needs: Need): Lease {
  const lease = new Lease(configureOrOff(user, needs), () => configureOrOff(user, needs))
  if (needs === 'logs' && lease.sources.appName === 'option') processRegistry().nameLogger?.(lease.options.appName)
  return lease
}

/**
 * The right of one user to an engine, which closes when its last lease is released.
 *
 * While it is off for want of variables, or for a wrong one, it looks for new ones: an application may log before it calls
 * `process.loadEnvFile()`. While a test captures records, no engine is started.
 */
export class Lease {
  #resolution: Resolution
  readonly #again: () => Resolution
  /** Takes records where nothing has to be found out before. */
  #port: RecordPort | undefined
  #shared: SharedEngine | undefined
  #loggerName: string | undefined
  #released: Promise<void> | undefined
  #mayTurnOn: boolean
  /** A timer sets it: a call reads no clock. */
  #isLookDue = false
  #seen = ''

  /** @param again resolves the configuration anew */
  constructor(resolution: Resolution, again: () => Resolution) {
    const isOff = resolution.state === 'off'
    this.#resolution = resolution
    this.#again = again
    this.#mayTurnOn = isOff && resolution.reason !== 'disabled'
    if (this.#mayTurnOn) this.#seen = ownVariables()
    this.#waitForLook()
    // It is there before the first record.
    this.#find()
  }

  /** The port that takes records now: the engine, an idle one when Sluice is off, or the capture of a test. */
  get engine(): RecordPort {
    const port = this.#port
    return port !== undefined && currentCapture() === undefined ? port : this.#find()
  }

  get options(): ResolvedOptions {
    return this.#resolution.options
  }

  /** Where each of these options comes from. */
  get sources(): Sources {
    return this.#resolution.sources
  }

  /** True once its user has released it. Later records of this user are refused, those of other users are not. */
  get released(): boolean {
    return this.#released !== undefined
  }

  /**
   * Use the `appName` of the process's logger, once there is one, unless the variable gives one. What was accepted before stays with its engine.
   * For a lease that lasts as long as the process.
   */
  followLogger(): void {
    processRegistry().whenNamed?.((appName) => {
      this.#loggerName = appName
      this.#resolution = this.#named(this.#resolution)
      this.#shared = undefined
      this.#port = undefined
    })
  }

  #named(resolution: Resolution): Resolution {
    const { options, sources } = resolution
    if (this.#loggerName === undefined || sources.appName === 'SLUICE_APP_NAME') return resolution
    return { ...resolution, options: { ...options, appName: this.#loggerName } }
  }

  /** Flush, and close the engine if this was its last lease. */
  release({ timeoutMs }: { timeoutMs?: number | undefined } = {}): Promise<void> {
    this.#mayTurnOn = false
    if (this.#resolution.state === 'off') return Promise.resolve()
    this.#released ??= this.#shared ? leaveEngine(this.#shared, this.options, timeoutMs) : Promise.resolve()
    return this.#released
  }

  #find(): RecordPort {
    if (this.#isLookDue) this.#look()
    const captured = captureEngine(this.options)
    if (captured !== undefined) return captured
    if (this.#resolution.state === 'on' && !this.released) this.#shared ??= joinEngine(this.options)
    this.#port = this.#shared?.port ?? new IdlePort(this.options)
    return this.#port
  }

  #look(): void {
    this.#isLookDue = false
    try {
      const seen = ownVariables()
      // A file with a key may come later than the variable that names it.
      if (!this.#mayTurnOn || (seen === this.#seen && !/^SLUICE_\w+_FILE,./m.test(seen))) return
      this.#seen = seen
      const resolution = this.#again()
      if (resolution.state === 'off') return
      this.#resolution = this.#named(resolution)
      this.#mayTurnOn = false
      processRegistry().reportOff?.(undefined)
      if (isNews(nowOn)) printLine(nowOn)
    } catch {
      // A call that logs must not fail for a configuration that came after it.
    } finally {
      this.#waitForLook()
    }
  }

  #waitForLook(): void {
    if (!this.#mayTurnOn) return
    systemClock.schedule(() => {
      this.#isLookDue = true
      this.#port = undefined
    }, lookEveryMs)
  }
}

/** A lease, as its user sees it. */
export type UserLease = Omit<Lease, 'followLogger'>

/** The variables of Sluice with their values, as one text. */
function ownVariables(): string {
  return Object.entries(process.env)
    .filter(([name]) => name.startsWith('SLUICE_'))
    .join('\n')
}
