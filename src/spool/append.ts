import { writeSync } from 'node:fs'
import { appendFlags, closeFile, openPlainFile } from '../options/plain-file.js'

/** Add lines to the end of a file, which is made where there is none. Throws what the file system does. */
export function append(path: string, lines: string): void {
  const file = openPlainFile(path, { flags: appendFlags })
  const { error } = write(file, Buffer.from(`${lines}\n`))
  const closed = closeFile(file)
  const fault = error ?? closed
  if (fault !== undefined) throw fault
}

/** How much of the bytes the file system took, and what kept it from taking the rest. */
export interface Taken {
  readonly bytes: number
  readonly error?: unknown
}

/** Write all bytes, in however many steps. */
export function write(file: number, bytes: Buffer): Taken {
  let taken = 0
  try {
    while (taken < bytes.length) {
      const more = writeSync(file, bytes, taken)
      // A file system that takes nothing would be asked for ever.
      if (more === 0) return { bytes: taken, error: new Error('the file system takes no bytes') }
      taken += more
    }
    return { bytes: taken }
  } catch (error) {
    return { bytes: taken, error }
  }
}
