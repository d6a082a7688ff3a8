/** The base of every error that Sluice makes. Match on `code`: it is stable, the message is for people. */
export class SluiceError extends Error {
  /** What it is, for programs, such as `SLUICE_PAUSED`. */
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

/** `…_INVALID`: a value that cannot be used. `…_MISSING`: a setting without which nothing works. `…_UNKNOWN`: a name that there is not. */
export type ConfigErrorCode = 'SLUICE_CONFIG_INVALID' | 'SLUICE_CONFIG_MISSING' | 'SLUICE_CONFIG_UNKNOWN'

/** What is wrong with which setting. `value` is `'[redacted]'` for secrets. */
export interface ConfigMistake {
  readonly code: ConfigErrorCode
  /** The option's name, as in `createSluice({ url })`. */
  readonly option: string
  /** The variable that set it, or that could. */
  readonly variable?: string | undefined
  readonly value?: unknown
  readonly message: string
}

/**
 * A mistake in the configuration: an option or variable that is invalid, missing or unknown. Thrown where Sluice is set up
 * (`createSluice`, `new SluiceTransport`, the start of the pino target), never by `track` or a logger call.
 */
export class ConfigError extends SluiceError {
  declare readonly code: ConfigErrorCode
  /** The option's name, as in `createSluice({ url })`. */
  readonly option: string
  /** The variable that set it, or that could; undefined where there is none. */
  readonly variable: string | undefined
  /** What it was set to; `'[redacted]'` for secrets. */
  readonly value: unknown

  constructor(mistake: ConfigMistake) {
    super(mistake.code, mistake.message)
    this.option = mistake.option
    this.variable = mistake.variable
    this.value = mistake.value
  }
}
