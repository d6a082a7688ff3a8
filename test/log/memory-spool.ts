import type { DropReason } from '../../src/delivery/ledger.js'
import type { Backing } from '../../src/log/backing.js'
import { gone, type Segment, type SegmentFile } from '../../src/log/segment.js'

/** A spool whose files are in memory, and whose disk fails as a test wants. */
export class MemorySpool implements Backing {
  readonly lossReason: DropReason = 'spool-full'
  takes = true
  /** Does not answer when it is read. */
  isSlow = false
  /** Records that it takes before a write breaks. */
  left = Number.POSITIVE_INFINITY
  /** The records of each file: key and body, by index. */
  readonly files = new Map<Segment, Map<number, Buffer>>()
  removed = 0

  open(segment: Segment): SegmentFile | undefined {
    if (!this.takes) return undefined
    const lines = new Map<number, Buffer>()
    this.files.set(segment, lines)
    return {
      load: (indexes, memory, at) => {
        if (this.isSlow) return 'later'
        let behind = at
        for (const index of indexes) {
          const line = lines.get(index)
          if (line === undefined) segment.log.lose(segment, index, 1, 'spool-full')
          else line.copy(memory, behind)
          behind += segment.spanOf(index, 1)
        }
        return 'loaded'
      },
      settled: (index, count) => {
        for (let each = index; each < index + count; each++) lines.delete(each)
      },
      remove: () => {
        this.files.delete(segment)
        this.removed++
      },
    }
  }

  commit(): void {
    for (const [segment, lines] of [...this.files]) this.#write(segment, lines)
  }

  rejected: Backing['rejected'] = () => {}

  #write(segment: Segment, lines: Map<number, Buffer>): void {
    if (segment.isFileFull) return
    for (let index = segment.committed; index < segment.count; index++) {
      if (segment.states[index] === gone) continue
      if (this.left-- <= 0 || !this.takes) {
        this.takes = false
        if (index > segment.committed) segment.log.written(segment, index)
        segment.log.seal(segment)
        return
      }
      const end = segment.ends[index]! - segment.origin
      lines.set(index, Buffer.from(segment.memory.subarray(end - segment.spanOf(index, 1), end)))
    }
    segment.log.written(segment, segment.count)
  }
}
