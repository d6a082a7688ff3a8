import { type Files, nodeFiles } from '../runtime/files.js'
import { appendFlags, closeFile, openPlainFile } from '../runtime/plain-file.js'

/** Add lines to the end of a file. The file is made if it does not exist. Throws what the file system does. */
export function append(path: string, { lines, files }: { readonly lines: string; readonly files: Files }): void {
  const file = openPlainFile(path, { flags: appendFlags, files })
  const { error } = write(file, { bytes: Buffer.from(`${lines}\n`), files })
  const closed = closeFile(file, files)
  const fault = error ?? closed
  if (fault !== undefined) throw fault
}

/** How many bytes the file system took, and the error if it did not take all. */
interface Taken {
  readonly bytes: number
  readonly error?: unknown
}

interface Writing {
  readonly bytes: Buffer
  /** @default the machine's */
  readonly files?: Files
}

/** Write all bytes, in as many steps as the file system needs. */
export function write(file: number, { bytes, files = nodeFiles }: Writing): Taken {
  let taken = 0
  try {
    while (taken < bytes.length) {
      const more = files.writeSync(file, bytes, taken)
      // Without this, a file system that takes nothing would be asked for ever.
      if (more === 0) return { bytes: taken, error: new Error('the file system takes no bytes') }
      taken += more
    }
    return { bytes: taken }
  } catch (error) {
    return { bytes: taken, error }
  }
}
