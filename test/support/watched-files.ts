import { basename } from 'node:path'
import { type Files, nodeFiles } from '../../src/runtime/files.js'

/** The file system of the machine, which notes its calls, and fails where a test says so. */
export class WatchedFiles {
  /** The calls in their order, such as `unlinkSync lock-1`. */
  readonly calls: string[] = []
  /** The code of the error with which a call fails; undefined when it works. */
  fault = (_call: string): string | undefined => undefined
  /** How many of the bytes a write takes. */
  taken = (bytes: number): number => bytes
  readonly files: Files
  readonly #paths = new Map<number, string>()

  constructor() {
    const watched = Object.entries(nodeFiles).map(([name, call]) => [name, this.#watch(name, call)])
    this.files = Object.fromEntries(watched)
  }

  #watch(name: string, call: (...args: never[]) => unknown) {
    return (...given: unknown[]) => {
      const path = typeof given[0] === 'number' ? (this.#paths.get(given[0]) ?? '') : String(given[0])
      const text = `${name} ${basename(path)}`
      this.calls.push(text)
      const code = this.fault(text)
      if (code !== undefined) throw Object.assign(new Error(`${code}: ${text}`), { code })
      const result: unknown = Reflect.apply(call, undefined, name === 'writeSync' ? this.#shortened(given) : given)
      if (name === 'openSync') this.#paths.set(result as number, path)
      return result
    }
  }

  #shortened([file, bytes, offset]: unknown[]): unknown[] {
    const rest = (bytes as Buffer).subarray(offset as number)
    return [file, rest.subarray(0, this.taken(rest.length)), 0]
  }
}
