import { PbfReader, PbfWriter } from 'pbf'
import {
  type Attributes,
  type Bound,
  boundOfRecord,
  type Nanoseconds,
  OtlpError,
  type ReceivedLog,
  type ReceivedScope,
  type RequestBounds,
  setAttribute,
} from './logs.js'

// The messages of opentelemetry/proto/collector/logs/v1/logs_service.proto and of those that it imports, version 1.9.

/** Wire types of protobuf. */
const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const
type Wire = (typeof wire)[keyof typeof wire]

/** Deeper values are refused: each level is a call. */
const maxDepth = 100

/**
 * Reads a request. Its records are read when they are asked for.
 *
 * @throws {OtlpError} where the bytes are cut, are no such message, or exceed a bound
 */
export function readProtobuf(bytes: Uint8Array, bounds: RequestBounds): readonly ReceivedScope[] {
  return asOtlp(() => readRequest(new CheckedReader(bytes, bounds.ofResources), bounds))
}

function asOtlp<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw error instanceof OtlpError ? error : new OtlpError('is not an ExportLogsServiceRequest in protobuf')
  }
}

/** An `ExportLogsServiceResponse` without remarks: all records were taken. */
export const emptyProtobuf = Buffer.alloc(0)

/** A `google.rpc.Status`, the body of every refusal. */
export function statusProtobuf({ code, message }: { readonly code: number; readonly message: string }): Buffer {
  const writer = new PbfWriter()
  writer.writeVarintField(1, code)
  writer.writeStringField(2, message)
  return Buffer.from(writer.finish())
}

/** pbf reads beyond the end of a message, and takes any wire type for any field. This reader does neither. */
class CheckedReader extends PbfReader {
  #depth = 0
  readonly #values: Bound

  constructor(bytes: Uint8Array, values: Bound) {
    super(bytes)
    this.#values = values
  }

  override nextField(end = this.length): number {
    const field = end > this.length ? 0 : super.nextField(end)
    if (end > this.length || this.pos > end) throw new OtlpError('is cut, or is no protobuf')
    return field
  }

  /** A value or an attribute. */
  value(read: (field: number) => void): void {
    this.#values.take(1)
    this.fields(read)
  }

  /** The bytes of the message at this place, with their length before them; passes over it. */
  message(): Uint8Array {
    const from = this.expect(wire.bytes).pos
    this.skip(wire.bytes)
    return this.buf.subarray(from, this.pos)
  }

  /** Calls `read` with each field of the message at this place. Fields that it does not read are passed over. */
  fields(read: (field: number) => void): void {
    if (++this.#depth > maxDepth) throw new OtlpError(`has values of more than ${maxDepth} levels`)
    this.expect(wire.bytes)
    this.readMessage(read, undefined)
    this.#depth--
  }

  expect(type: Wire): this {
    if (this.type !== type) throw new OtlpError('is not an ExportLogsServiceRequest in protobuf')
    return this
  }

  text(): string {
    return this.expect(wire.bytes).readString()
  }

  data(): Buffer {
    return Buffer.from(this.expect(wire.bytes).readBytes())
  }

  time(): Nanoseconds {
    const at = this.expect(wire.fixed64).pos
    this.pos += 8
    return this.dataView.getBigUint64(at, true)
  }

  double(): number {
    return this.expect(wire.fixed64).readDouble()
  }

  /** An int64: a text where no number can hold it. */
  integer(): number | string {
    const from = this.expect(wire.varint).pos
    const value = this.readVarint(true)
    if (Number.isSafeInteger(value)) return value
    let whole = 0n
    for (let at = from; at < this.pos; at++) whole |= BigInt(this.buf[at]! & 0x7f) << BigInt(7 * (at - from))
    return BigInt.asIntN(64, whole).toString()
  }
}

function readRequest(reader: CheckedReader, bounds: RequestBounds): ReceivedScope[] {
  const scopes: ReceivedScope[] = []
  reader.readFields((field) => {
    if (field === 1) scopes.push(...readResourceLogs(reader, bounds))
  }, undefined)
  return scopes
}

function readResourceLogs(reader: CheckedReader, bounds: RequestBounds): ReceivedScope[] {
  const resource: Attributes = {}
  const scopes: ReceivedScope[] = []
  reader.fields((field) => {
    if (field === 1) {
      reader.fields((ofResource) => {
        if (ofResource === 1) readAttribute(reader, resource)
      })
    } else if (field === 2) {
      bounds.scopes.take(1)
      scopes.push({ resource, ...readScopeLogs(reader, bounds) })
    }
  })
  return scopes
}

function readScopeLogs(reader: CheckedReader, { records }: RequestBounds): Omit<ReceivedScope, 'resource'> {
  let scope = ''
  const attributes: Attributes = {}
  const messages: Uint8Array[] = []
  reader.fields((field) => {
    if (field === 1) {
      reader.fields((ofScope) => {
        if (ofScope === 1) scope = reader.text()
        else if (ofScope === 3) readAttribute(reader, attributes)
      })
    } else if (field === 2) {
      records.take(1)
      messages.push(reader.message())
    }
  })
  return { scope, attributes, count: messages.length, records: logsAt(messages) }
}

function* logsAt(messages: readonly Uint8Array[]): Generator<ReceivedLog> {
  for (const message of messages) {
    yield asOtlp(() => {
      const reader = new CheckedReader(message, boundOfRecord())
      reader.type = wire.bytes
      return readLog(reader)
    })
  }
}

function readLog(reader: CheckedReader): ReceivedLog {
  const log: ReceivedLog = {
    time: 0n,
    observedTime: 0n,
    severityNumber: 0,
    severityText: '',
    body: undefined,
    attributes: {},
    traceId: '',
    spanId: '',
    eventName: '',
  }
  reader.fields((field) => {
    if (field === 1) log.time = reader.time()
    else if (field === 2) log.severityNumber = Number(reader.integer())
    else if (field === 3) log.severityText = reader.text()
    else if (field === 5) log.body = readValue(reader) ?? undefined
    else if (field === 6) readAttribute(reader, log.attributes)
    else if (field === 9) log.traceId = reader.data().toString('hex')
    else if (field === 10) log.spanId = reader.data().toString('hex')
    else if (field === 11) log.observedTime = reader.time()
    else if (field === 12) log.eventName = reader.text()
  })
  return log
}

function readAttribute(reader: CheckedReader, attributes: Attributes): void {
  let key = ''
  let value: unknown = null
  reader.value((field) => {
    if (field === 1) key = reader.text()
    else if (field === 2) value = readValue(reader)
  })
  setAttribute(attributes, key, value)
}

/** An `AnyValue`; null for an empty one. */
function readValue(reader: CheckedReader): unknown {
  let value: unknown = null
  reader.value((field) => {
    if (field === 1) value = reader.text()
    else if (field === 2) value = reader.expect(wire.varint).readBoolean()
    else if (field === 3) value = reader.integer()
    else if (field === 4) value = reader.double()
    else if (field === 5) value = readList(reader)
    else if (field === 6) value = readMap(reader)
    else if (field === 7) value = reader.data().toString('base64')
  })
  return value
}

function readList(reader: CheckedReader): unknown[] {
  const values: unknown[] = []
  reader.fields((field) => {
    if (field === 1) values.push(readValue(reader))
  })
  return values
}

function readMap(reader: CheckedReader): Attributes {
  const values: Attributes = {}
  reader.fields((field) => {
    if (field === 1) readAttribute(reader, values)
  })
  return values
}
