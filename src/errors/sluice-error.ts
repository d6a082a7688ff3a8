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
