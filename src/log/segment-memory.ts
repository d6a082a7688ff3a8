import { fullBytes, gone, type Segment } from './segment.js'

/** Sizes of the memory of a segment that takes records: small at first, because most engines hold few records. */
export const firstBytes = 8192
const sizes = [firstBytes, 32_768, 131_072, fullBytes]
/** Share of the records in memory that may be added as bytes of no use, where compaction may take the segment. */
const mostWaste = 1 / 8
/** Memories of full size that wait for their next use, shared by the logs of a thread. */
const pool: Buffer[] = []
const mostPooled = 4
const empty = Buffer.alloc(0)

function open(bytes: number): Buffer {
  const size = sizes.find((each) => each >= bytes) ?? bytes
  return (size === fullBytes ? pool.pop() : undefined) ?? Buffer.allocUnsafeSlow(size)
}

function close(memory: Buffer): void {
  if (memory.length === fullBytes && pool.length < mostPooled) pool.push(memory)
}

/** Make room for `most` bytes behind the last body; the memory gets at least `wanted` bytes when it is replaced. */
export function reserve(segment: Segment, most: number, wanted: number): void {
  if (segment.tally[gone] === segment.count) releaseAll(segment)
  const needed = segment.at + most
  const { memory } = segment
  // What was made for one large record does not stay for small ones.
  if (needed <= memory.length && (memory.length <= fullBytes || needed > fullBytes)) return
  replace(segment, open(Math.max(needed, wanted)), 0, segment.at)
}

/** All records are gone: the next ones are written from the beginning of the memory on. */
function releaseAll(segment: Segment): void {
  segment.resident = segment.count
  segment.origin = segment.end
}

/** Give up the room behind the last body, where it is worth while. */
export function trim(segment: Segment): void {
  if (isWasteful(segment.memory.length, segment.at)) replace(segment, exactly(segment.at), 0, segment.at)
}

/** True where a memory of this size wastes space: far fewer bytes are needed. */
export function isWasteful(bytes: number, needed: number): boolean {
  return bytes > needed * (1 + mostWaste)
}

/** The records before `to` leave memory. */
export function release(segment: Segment, to: number): void {
  const origin = segment.ends[to - 1]!
  const left = segment.end - origin
  const from = origin - segment.origin
  replace(segment, exactly(left), from, from + left)
  segment.resident = to
  segment.origin = origin
}

/** Copy the records that are not gone to a memory of their size. Records that are gone have no bytes then. Indexes stay. */
export function compact(segment: Segment): void {
  const { memory, origin, ends, states, keyLengths } = segment
  const copy = exactly(segment.held)
  let begin = origin
  let at = 0
  for (let index = segment.resident; index < segment.count; index++) {
    const end = ends[index]!
    if (states[index] !== gone) at += memory.copy(copy, at, begin - origin, end - origin)
    else if (keyLengths !== undefined) keyLengths[index] = 0
    ends[index] = origin + at
    begin = end
  }
  segment.memory = copy
  close(memory)
}

/** All records of a segment that takes more are gone: other logs may use a memory of full size meanwhile. */
export function restMemory(segment: Segment): void {
  if (segment.memory.length < fullBytes) return
  releaseAll(segment)
  dispose(segment)
}

/** Copy the bodies of a segment that are not gone to another one, which has none. */
export function moveBodies(from: Segment, to: Segment): void {
  to.memory = exactly(from.held)
  let at = 0
  for (let index = from.resident; index < from.count; index++) {
    if (from.states[index] === gone) continue
    const end = from.ends[index]! - from.origin
    at += from.memory.copy(to.memory, at, end - from.spanOf(index, 1), end)
  }
}

/** The segment needs no memory any more. */
export function dispose(segment: Segment): void {
  close(segment.memory)
  segment.memory = empty
}

function exactly(bytes: number): Buffer {
  return bytes === 0 ? empty : Buffer.allocUnsafeSlow(bytes)
}

function replace(segment: Segment, memory: Buffer, from: number, to: number): void {
  segment.memory.copy(memory, 0, from, to)
  close(segment.memory)
  segment.memory = memory
}
