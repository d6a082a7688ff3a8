import type { Severity } from '../records/level.js'

/**
 * A frame has a head of 16 bytes: size u32 (without the bytes that align the next frame to 8), kind u8, severity and marks u8, two bytes
 * that are 0, time f64. Behind it:
 *
 *     value    number of the event f64
 *     keyed    number of the event f64, key
 *     line style                        style u32, text
 *     … as the end of a long line       style u32, bytes of its parts u32, text
 *     part     bytes of a long line; `time` is the number of bytes before them
 *     pad      anything: up to the next frame, or to the end of the ring. It may be 8 bytes long, without a time.
 *
 * Texts are UTF-8. Numbers have the byte order of the machine: no frame leaves it.
 */
const frameKinds = ['pad', 'value', 'keyed', 'line', 'style', 'part'] as const
export type FrameKind = (typeof frameKinds)[number]
export type TextKind = Exclude<FrameKind, 'pad' | 'value' | 'keyed' | 'part'>

/** What stands before the text of a line. */
export interface FrameHead {
  readonly kind: FrameKind
  readonly severity: Severity
  /** Three bits on whose meaning both ends agree, such as: a line below the level. */
  readonly marks: number
  /** Milliseconds since 1970. */
  readonly time: number
  /** Number of the style of a logger. Up to 2^32 - 1. */
  readonly style: number
}
export type TextHead = FrameHead & { readonly kind: TextKind }

const marksShift = 12
/** In the byte of the severity: the line began in parts. */
const endOfParts = 1 << 15

export const frameCode = Object.fromEntries(frameKinds.map((kind, code) => [kind, code])) as Readonly<
  Record<FrameKind, number>
>
/** Constants: the hottest path looks nothing up. */
export const valueCode = 1
export const padCode = 0

export const headBytes = 16
const eventAt = 16
export const styleAt = 16
/** A frame of a value is as long; the key of a keyed one begins there. */
export const valueBytes = 24
/** The first eight bytes of a value's frame, which is one store then. */
export const valueHead = new Float64Array(new Int32Array([valueBytes, valueCode]).buffer)[0]!
export const textAt = 20
/** Behind the number of bytes that parts have. */
export const endTextAt = 24

export function aligned(size: number): number {
  return (size + 7) & ~7
}

/** Second word of the head of a line. */
export function lineWord({ kind, severity, marks }: FrameHead, endsParts = false): number {
  return frameCode[kind] | (severity << 8) | (marks << marksShift) | (endsParts ? endOfParts : 0)
}

/** A piece of memory with frames, seen in three ways. */
export class FrameMemory {
  readonly ints: Int32Array
  readonly floats: Float64Array
  readonly bytes: Buffer

  constructor(buffer: ArrayBufferLike, from = 0) {
    this.ints = new Int32Array(buffer, from)
    this.floats = new Float64Array(buffer, from)
    this.bytes = Buffer.from(buffer, from)
  }

  sizeAt(at: number): number {
    return this.ints[at >> 2]!
  }

  /** Position behind the frame. */
  behind(at: number): number {
    return at + aligned(this.ints[at >> 2]!)
  }

  codeAt(at: number): number {
    return this.ints[(at >> 2) + 1]! & 0xff
  }

  timeAt(at: number): number {
    return this.floats[(at >> 3) + 1]!
  }

  eventAt(at: number): number {
    return this.floats[(at + eventAt) >> 3]!
  }

  endsParts(at: number): boolean {
    return (this.ints[(at >> 2) + 1]! & endOfParts) !== 0
  }

  /** Bytes of the parts before the end of a long line. */
  partBytesAt(at: number): number {
    return this.ints[(at + textAt) >> 2]! >>> 0
  }

  /** @param into gets the head: a reader makes no object for each line */
  headAt(at: number, into: { -readonly [Name in keyof FrameHead]?: FrameHead[Name] } = {}): FrameHead {
    const word = this.ints[(at >> 2) + 1]!
    const kind = frameKinds[word & 0xff]!
    const hasStyle = kind !== 'value' && kind !== 'keyed' && kind !== 'part'
    into.kind = kind
    into.severity = ((word >> 8) & 15) as Severity
    into.marks = (word >> marksShift) & 7
    into.time = this.timeAt(at)
    into.style = hasStyle ? this.ints[(at + styleAt) >> 2]! >>> 0 : 0
    return into as FrameHead
  }
}
