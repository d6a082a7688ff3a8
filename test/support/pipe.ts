import fc from 'fast-check'
import { aligned, type FrameHead, type TextHead, textAt, valueBytes } from '../../src/pipe/frame.js'
import { PipeMemory } from '../../src/pipe/pipe-memory.js'
import type { FrameSink } from '../../src/pipe/pipe-reader.js'
import type { PipeWriter } from '../../src/pipe/pipe-writer.js'
import type { Severity } from '../../src/records/level.js'

/** What a test writes into a pipe, and what a sink has got of it. */
export type Sent =
  | { readonly kind: 'value'; readonly eventId: number; readonly ms: number }
  | { readonly kind: 'keyed'; readonly eventId: number; readonly ms: number; readonly key: string }
  | { readonly kind: 'text'; readonly head: TextHead; readonly text: string }
  | { readonly kind: 'unreadable'; readonly head: FrameHead }

const time = fc.constantFrom(0, 1_700_000_000_000, 1_700_000_000_000.25, -1)
const kinds = ['line', 'style'] as const

const head: fc.Arbitrary<TextHead> = fc.record({
  kind: fc.constantFrom(...kinds),
  severity: fc.constantFrom<Severity>(0, 1, 2, 3, 4, 5, 6),
  marks: fc.nat(7),
  time,
  style: fc.constantFrom(0, 1, 4_294_967_295),
})

/** Texts of many alphabets, with halves of characters, up to so many UTF-16 code units. */
export function texts(most: number): fc.Arbitrary<string> {
  const repeated = fc
    .record({
      piece: fc.constantFrom('x', 'ab\n', 'é', '€', '😀', '\ud800', 'a\udc00', '\0', 'xé€😀'),
      length: fc.oneof(fc.nat(Math.min(most, 40)), fc.nat(Math.min(most, 3000)), fc.nat(most)),
    })
    .map(({ piece, length }) => piece.repeat(Math.floor(length / piece.length)))
  return fc.oneof(fc.string({ unit: 'binary' }), repeated)
}

/** @param most UTF-16 code units of a text */
export function frames(most: number): fc.Arbitrary<Sent> {
  const eventId = fc.constantFrom(0, 1001, 2 ** 53 - 1)
  return fc.oneof(
    fc.record({ kind: fc.constant('value' as const), eventId, ms: time }),
    fc.record({ kind: fc.constant('keyed' as const), eventId, ms: time, key: texts(200) }),
    fc.record({ kind: fc.constant('text' as const), head, text: texts(most) }),
  )
}

export function write(writer: PipeWriter, sent: Sent): void {
  if (sent.kind === 'value') writer.value(sent.eventId, sent.ms)
  else if (sent.kind === 'keyed') writer.keyed(sent.eventId, sent.ms, sent.key)
  else if (sent.kind === 'text') writer.text(sent.head, sent.text)
}

/** Bytes of its frame. A line that is too long for one has several. */
export function bytesOf(sent: Sent): number {
  if (sent.kind === 'keyed') return aligned(valueBytes + Buffer.byteLength(sent.key))
  return sent.kind === 'text' ? aligned(textAt + Buffer.byteLength(sent.text)) : valueBytes
}

/** The same, as the other end gets it. */
export function received(sent: Sent): Sent {
  if (sent.kind === 'keyed') return { ...sent, key: sent.key.toWellFormed() }
  if (sent.kind !== 'text') return sent
  return { ...sent, text: sent.text.toWellFormed() }
}

/** Remembers all that it gets, and counts it. */
export class NotingSink implements FrameSink {
  readonly got: Sent[] = []
  readonly #count = new Int32Array(new SharedArrayBuffer(4))

  taken(): number | undefined {
    return Atomics.load(this.#count, 0)
  }

  value(eventId: number, ms: number): void {
    this.#note({ kind: 'value', eventId, ms })
  }

  keyed(eventId: number, ms: number, key: string): void {
    this.#note({ kind: 'keyed', eventId, ms, key })
  }

  text(head: TextHead, memory: Buffer, from: number, end: number): void {
    this.#note({ kind: 'text', head: { ...head }, text: memory.toString('utf8', from, end) })
  }

  unreadable(head: FrameHead): void {
    this.#note({ kind: 'unreadable', head: { ...head } })
  }

  #note(sent: Sent): void {
    Atomics.store(this.#count, 0, Atomics.load(this.#count, 0) + 1)
    this.got.push(sent)
  }
}

/** A pipe whose ring has so many bytes. */
export function pipeOf(bytes?: number): PipeMemory {
  return PipeMemory.open(PipeMemory.create(bytes))!
}
