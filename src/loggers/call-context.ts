import type { WrittenField } from '../context/context.js'
import { fieldsForLine } from '../context/line-context.js'

/** The fields of the context in which a line was logged, by winston's `info`. */
const fieldsOfInfo = new WeakMap<object, readonly WrittenField[]>()
/** False until a line has a context: then nothing is looked up. */
let isUsed = false
const watched = new WeakSet<object>()
/** Calls of watched loggers that are running. */
let calls = 0

/** A logger of winston, or another stream that pipes into a transport. */
interface Source {
  write?(info: unknown, encoding?: unknown, callback?: unknown): boolean
}

/**
 * Remembers the context of each call of a logger. winston keeps lines back while one of its transports is busy, and passes them on later,
 * in the context of another task.
 */
export function watchCalls(stream: object): void {
  const source: Source = stream
  const { write } = source
  if (typeof write !== 'function' || watched.has(source)) return
  watched.add(source)
  source.write = function (this: unknown, info: unknown, encoding?: unknown, callback?: unknown): boolean {
    const fields = fieldsForLine()
    if (fields !== undefined && typeof info === 'object' && info !== null) {
      isUsed = true
      fieldsOfInfo.set(info, fields)
    }
    calls++
    try {
      return write.call(this as Source, info, encoding, callback)
    } finally {
      calls--
    }
  }
}

/**
 * The fields of the context in which a line of a watched logger was logged. A line that comes late, and whose `info` a format has replaced,
 * has none: the fields of another task would be wrong.
 */
export function fieldsOfCall(info: object): readonly WrittenField[] | undefined {
  if (!isUsed) return undefined
  return fieldsOfInfo.get(info) ?? (calls > 0 ? fieldsForLine() : undefined)
}
