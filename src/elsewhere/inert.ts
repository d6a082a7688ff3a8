import { emptyLedger, type Ledger } from '../delivery/ledger.js'
import { SluiceError } from '../errors/sluice-error.js'

// All that the entries export where Sluice cannot run: in a browser, at the edge. Setting up, logging and tracking never throw, so that no page fails to
// render. What has to give an answer gives an error: content, captures in tests.

const where = 'Sluice runs on a server, with Node.js, Bun or Deno'
const remedy = 'Import it only in code that runs there (in jest, with the test environment "node")'
let isTold = false

/** Says once that nothing is sent. */
function tell(): void {
  if (isTold) return
  isTold = true
  console.warn(`sluice: ${where}. In this runtime nothing is sent, and records are lost. ${remedy}.`)
}

function refusal(): SluiceError {
  return new SluiceError('SLUICE_CONFIG_INVALID', `${where}, not in this runtime. ${remedy}.`)
}

async function ledger(): Promise<Ledger> {
  return emptyLedger
}

/** Each method of it answers with an error. */
function refusing(): object {
  return new Proxy(
    {},
    {
      get: (_, name) => {
        // `await` asks whether it is a promise.
        if (name === 'then') return undefined
        if (name === 'close' || name === Symbol.asyncDispose) return async () => {}
        return async () => {
          throw refusal()
        }
      },
    },
  )
}

export const flush = ledger
export const close = ledger

export function track(): void {
  tell()
}

export function tracked<Run>(_eventId: number, run: Run): Run {
  tell()
  return run
}

export function stats(): Ledger {
  return emptyLedger
}

export function rejections(): readonly never[] {
  return []
}

export function createSluice(): object {
  tell()
  return { track, tracked, flush, close, stats, rejections, [Symbol.asyncDispose]: async () => {} }
}

export function setLevel(): void {}

export function withContext<Result>(_fields: object, run: () => Result): Result {
  return run()
}

export function currentContext(): object {
  return {}
}

/** A stream that takes lines and listeners, for pino and winston. */
export class SluiceTransport {
  readonly writable = true

  constructor() {
    tell()
  }

  write(_line?: unknown, encoding?: unknown, callback?: unknown): boolean {
    const done = callback ?? encoding
    if (typeof done === 'function') done()
    return true
  }

  log(_info?: unknown, callback?: () => void): boolean {
    callback?.()
    return true
  }

  flush(callback?: () => void): void {
    callback?.()
  }

  flushSync(): void {}

  end(callback?: unknown): this {
    if (typeof callback === 'function') callback()
    return this
  }

  close(): void {}

  on(): this {
    return this
  }

  once(): this {
    return this
  }

  off(): this {
    return this
  }

  removeListener(): this {
    return this
  }

  emit(): boolean {
    return false
  }
}

export function sluicePino(): SluiceTransport {
  return new SluiceTransport()
}

export async function pinoTarget(): Promise<SluiceTransport> {
  return new SluiceTransport()
}

export function sluicePinoOptions(options: object = {}): object {
  return options
}

export class SluiceLogRecordExporter {
  constructor() {
    tell()
  }

  export(_records: unknown, done: (result: { readonly code: number }) => void): void {
    done({ code: 0 })
  }

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}
}

export function health(): object {
  return { status: 'ok', lanes: [], since: new Date().toISOString(), reason: undefined }
}

export function instrument(): () => void {
  return () => {}
}

export function prometheusText(): string {
  return ''
}

export async function sluiceFastify(): Promise<void> {
  tell()
}

export function sluiceExpress(): (request: unknown, response: unknown, next: () => void) => void {
  tell()
  return (_request, _response, next) => next()
}

export function createContentClient(): object {
  return refusing()
}

/** A test that captured nothing would only fail later, and say less. */
export function captureSluice(): never {
  throw refusal()
}

/** It has to give a record. */
export function openTelemetryLogRecord(): never {
  throw refusal()
}
