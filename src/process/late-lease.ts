import { printLine } from '../diagnostics/stderr.js'
import type { SluiceOptions, Sources } from '../options/options.js'
import type { Need, Resolution } from '../options/resolve.js'
import { systemClock } from '../runtime/clock.js'
import { isNews } from '../runtime/shared-state.js'
import { configureOrOff } from './configure.js'
import { type EngineLease, leaseEngine } from './engine-lease.js'
import { processRegistry } from './registry.js'

const nowOn = 'on: the variables are set now, records are sent from here on'

/** So often a Sluice that is off looks at the environment again, in milliseconds. */
const lookEveryMs = 1000

/**
 * An engine for the options of a logger or of `track`. While it is off for want of variables, or for a wrong one, it looks for new ones: an
 * application may log before it calls `process.loadEnvFile()`.
 *
 * @throws {ConfigError} for a mistake in code; see {@link configureOrOff}
 */
export function leaseFor(user: SluiceOptions, needs: Need): EngineLease {
  return leaseLate(configureOrOff(user, needs), () => configureOrOff(user, needs))
}

/** The same for a configuration that is resolved already; `again` resolves it anew. */
export function leaseLate(resolution: Resolution, again: () => Resolution): EngineLease {
  if (resolution.state === 'on' || resolution.reason === 'disabled') return leaseEngine(resolution)
  return new LateLease(resolution, again)
}

/** Off at first. It starts an engine once the variables allow it. */
class LateLease implements EngineLease {
  readonly #again: () => Resolution
  #lease: EngineLease
  #isOff = true
  /** A timer sets it: a call reads no clock. */
  #isDue = false
  #seen = ownVariables()

  constructor(resolution: Resolution, again: () => Resolution) {
    this.#lease = leaseEngine(resolution)
    this.#again = again
    this.#waitForLook()
  }

  get engine(): EngineLease['engine'] {
    if (this.#isDue) this.#look()
    return this.#lease.engine
  }

  get options(): EngineLease['options'] {
    return this.#lease.options
  }

  get sources(): Sources {
    return this.#lease.sources ?? {}
  }

  get released(): boolean {
    return this.#lease.released
  }

  release(options?: { timeoutMs?: number | undefined }): Promise<void> {
    this.#isOff = false
    this.#isDue = false
    return this.#lease.release(options)
  }

  #look(): void {
    this.#isDue = false
    try {
      const seen = ownVariables()
      // A file with a key may come later than the variable that names it.
      if (seen === this.#seen && !/^SLUICE_\w+_FILE,./m.test(seen)) return
      this.#seen = seen
      const resolution = this.#again()
      if (resolution.state === 'off') return
      this.#lease = leaseEngine(resolution)
      this.#isOff = false
      processRegistry().reportOff?.(undefined)
      if (isNews(nowOn)) printLine(nowOn)
    } catch {
      // A call that logs must not fail for a configuration that came after it.
    } finally {
      this.#waitForLook()
    }
  }

  #waitForLook(): void {
    if (!this.#isOff) return
    systemClock.schedule(() => {
      this.#isDue = this.#isOff
    }, lookEveryMs)
  }
}

/** The variables of Sluice with their values, as one text. */
function ownVariables(): string {
  return Object.entries(process.env)
    .filter(([name]) => name.startsWith('SLUICE_'))
    .join('\n')
}
