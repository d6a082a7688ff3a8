import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { type WrittenField, writtenField } from '../context/context.js'
import { runtimeIdentity } from '../options/identity.js'
import { runtimes } from '../records/wire.js'
import { after, systemClock } from '../runtime/clock.js'

let lastBound: unknown
let lastFields: Readonly<Record<string, unknown>> = {}

/** All fields that a logger and its parents have bound; none if they are not found. A child that logs again is not read again. */
export function bindingsOf(logger: object): Readonly<Record<string, unknown>> {
  const bound = ofPino(logger, 'pino.chindings')
  if (bound !== lastBound) {
    lastBound = bound
    lastFields = boundFields(bound) ?? {}
  }
  return lastFields
}

/** Fields of a context as the logger would write them in a call: its serializers and its `redact` may hide them. */
export function asWrittenBy(logger: object, fields: readonly WrittenField[]): readonly WrittenField[] {
  const serializers = ofPino(logger, 'pino.serializers') as Writers | undefined
  const stringifiers = ofPino(logger, 'pino.stringifiers') as Writers | undefined
  const ofAll = stringifiers && (ofPino(stringifiers, 'pino.wildcardFirst') as Writer | undefined)
  const own = (writers: Writers | undefined, name: string) =>
    writers !== undefined && Object.hasOwn(writers, name) ? writers[name] : undefined
  const isChanged = ({ name }: WrittenField) => own(serializers, name) ?? own(stringifiers, name) ?? ofAll
  if (!fields.some(isChanged)) return fields
  return fields.flatMap((field) => {
    const { name } = field
    const serialize = own(serializers, name) ?? ((value: unknown) => value)
    const stringify = own(stringifiers, name) ?? ofAll ?? JSON.stringify
    try {
      const value = serialize(JSON.parse(field.json))
      const json = value === undefined ? undefined : stringify(value)
      return typeof json === 'string' ? writtenField(name, json) : []
    } catch {
      // The serializer may have meant to hide the value that it cannot read.
      return []
    }
  })
}

type Writer = (value: unknown) => unknown
type Writers = Readonly<Record<string, Writer>>

/** Loggers of one copy of pino share their keys. */
const keysOfPino = new Map<string, symbol>()

/** A property that pino keeps under a symbol; undefined if it is not found. */
function ofPino(start: object, name: string): unknown {
  let key = keysOfPino.get(name)
  for (let each: object | null = start; each !== null && (key === undefined || !(key in start)); ) {
    key = Object.getOwnPropertySymbols(each).find(({ description }) => description === name)
    if (key !== undefined) keysOfPino.set(name, key)
    each = Object.getPrototypeOf(each)
  }
  return key === undefined ? undefined : (start as Record<symbol, unknown>)[key]
}

/** @param bound as pino keeps them: fields of JSON, with a comma before each */
function boundFields(bound: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof bound !== 'string') return undefined
  try {
    return JSON.parse(`{${bound.slice(1)}}`) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** The levels of a logger, as pino gives them to streams and targets. */
export interface PinoLevels {
  readonly labels?: Readonly<Record<string, string>>
  readonly values?: Readonly<Record<string, number>>
}

/** A logger's configuration, as pino gives it to streams and targets. */
export interface PinoConfig {
  readonly levels?: PinoLevels
  readonly messageKey?: string
  readonly errorKey?: string
}

/**
 * The configuration that pino sends to its worker when a logger is made with the transport, at once or at any later time. A transport
 * behind another stream never gets one.
 */
export class SentConfig {
  readonly #port: MessagePort | null = workerData?.workerData?.pinoWillSendConfig === true ? parentPort : null
  #config: PinoConfig | undefined

  /** Listens from now on: Deno drops a message to which nothing listens yet. */
  constructor() {
    const hear = (message: { readonly code?: unknown; readonly config?: PinoConfig } | null) => {
      if (message?.code !== 'PINO_CONFIG') return
      this.#config = message.config
      this.#port?.off('message', hear)
    }
    this.#port?.on('message', hear)
  }

  /** Resolves when it has come. Bun and Deno, which cannot look for a message, have a moment: their event may be on its way. */
  async awaited(): Promise<void> {
    const until = systemClock.now() + patienceMs
    while (this.#port !== null && !isNode && this.#config === undefined && systemClock.now() < until)
      await after(lookMs).over
  }

  /** What has been sent by now. */
  get current(): PinoConfig | undefined {
    if (this.#config === undefined && this.#port !== null && isNode) hearAtOnce(this.#port)
    return this.#config
  }
}

const patienceMs = 200
const lookMs = 5
const isNode = runtimeIdentity().runtime === runtimes.node

/** pino sends it before the first line of its logger, but lines come another way: it may be here, and not heard yet. */
function hearAtOnce(port: MessagePort): void {
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
    port.emit('message', next.message)
  }
}
