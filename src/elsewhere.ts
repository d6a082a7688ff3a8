import { emptyLedger } from './delivery/ledger.js'
import { SluiceError } from './errors/sluice-error.js'

export { ApiError } from './content/api-error.js'
export { contentType } from './content/content-type.js'
export { ConfigError, SluiceError } from './errors/sluice-error.js'
export { runtimes } from './records/wire.js'
export { defineEvents } from './tracking/events.js'

// All that the entries export where Sluice cannot run: in a browser, at the edge. Setting up, logging and tracking never throw, so that no page fails to
// render. What has to give an answer gives an error: content, captures in tests.

const where = 'Sluice runs on a server, with Node.js, Bun or Deno'
const remedy = 'Import it only in code that runs there (in jest, with the test environment "node")'
let isTold = false

/** Says once that nothing is sent. */
export function track(): void {
  if (isTold) return
  isTold = true
  console.warn(`sluice: ${where}. In this runtime nothing is sent, and records are lost. ${remedy}.`)
}

function refuse(): never {
  throw new SluiceError('SLUICE_CONFIG_INVALID', `${where}, not in this runtime. ${remedy}.`)
}

const nothing = () => {}
const closed = async () => {}
const called = (callback?: unknown) => void (typeof callback === 'function' && callback())

export const flush = async () => emptyLedger
export const close = flush
export const stats = () => emptyLedger
export const rejections = () => []
export const setLevel = nothing
export const currentContext = () => ({})
export const withContext = (_fields: object, run: () => unknown) => run()
export const health = () => ({ status: 'ok', lanes: [], since: new Date().toISOString() })
export const prometheusText = () => ''

export function tracked(_eventId: number, run: () => unknown) {
  track()
  return run
}

export function createSluice() {
  track()
  return { track, tracked, flush, close, stats, rejections, [Symbol.asyncDispose]: closed }
}

/** A stream that takes lines and listeners, for pino and winston. */
export class SluiceTransport {
  readonly writable = true
  readonly on = () => this
  readonly once = this.on
  readonly off = this.on
  readonly removeListener = this.on
  readonly emit = nothing
  readonly close = nothing
  readonly flushSync = nothing
  readonly flush = called

  constructor() {
    track()
  }

  write(_line?: unknown, encoding?: unknown, callback = encoding): boolean {
    called(callback)
    return true
  }

  log(info?: unknown, callback?: unknown): boolean {
    return this.write(info, callback)
  }

  end(callback?: unknown): this {
    called(callback)
    return this
  }
}

export const sluicePino = () => new SluiceTransport()
export const pinoTarget = async () => new SluiceTransport()
export const sluicePinoOptions = (options: object = {}) => options
export { pinoTarget as default }

/** Each method answers with an error. `await` asks whether it is a promise. */
export function createContentClient(): object {
  const known = new Map<unknown, unknown>([
    ['then', undefined],
    ['close', closed],
    [Symbol.asyncDispose, closed],
  ])
  return new Proxy({}, { get: (_, name) => (known.has(name) ? known.get(name) : async () => refuse()) })
}

/** A test that captured nothing would only fail later, and say less. */
export const captureSluice = refuse
