/** An error at the start that its caller can correct: a port, an address, a folder, a database, a certificate or a catalogue. */
export class ReceiverError extends Error {
  /** Names the setting that cannot be used. */
  readonly code:
    | 'PORT_TAKEN'
    | 'ADDRESS_UNUSABLE'
    | 'DATA_UNUSABLE'
    | 'DATA_IN_USE'
    | 'DATABASE_UNUSABLE'
    | 'TLS_UNUSABLE'
    | 'EVENTS_UNUSABLE'

  constructor(code: ReceiverError['code'], message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.name = 'ReceiverError'
    this.code = code
  }
}
