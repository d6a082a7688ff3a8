import { constants } from 'node:fs'
import { type FileFacts, type Files, nodeFiles } from './files.js'

/** Flags that a platform does not have are 0. */
const { O_RDONLY, O_CREAT, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants
const ownerOnly = 0o600
const pieceBytes = 65_536

export interface OpenSetting {
  /** True: open the target of a symbolic link. False: a link is an error. @default false */
  readonly follow?: boolean
  /** Flags of `node:fs`. @default O_RDONLY */
  readonly flags?: number
  /** @default the machine's */
  readonly files?: Files
}

/**
 * Opens a regular file and returns its descriptor. Other kinds are refused: a named pipe would block the thread until its other end is
 * opened, and a device may never end.
 *
 * @throws the error of the file system; for a file of another kind an error with the code `EISDIR`, `ELOOP` (a symbolic link) or `EFTYPE`
 */
export function openPlainFile(path: string, setting: OpenSetting = {}): number {
  const { follow = false, flags = O_RDONLY, files = nodeFiles } = setting
  const entry = { throwIfNoEntry: false } as const
  const facts = follow ? files.statSync(path, entry) : files.lstatSync(path, entry)
  // Without an entry, `openSync` fails or makes the file.
  if (facts !== undefined) requireFile(path, facts)
  const file = files.openSync(path, flags | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW), ownerOnly)
  try {
    // The name may have got another file meanwhile.
    requireFile(path, files.fstatSync(file))
  } catch (error) {
    closeFile(file, files)
    throw error
  }
  return file
}

/** Reads a whole regular file. Throws as {@link openPlainFile} does, and `EFBIG` for more than `maxBytes`. */
export function readPlainFile(
  path: string,
  { maxBytes, follow = false, files = nodeFiles }: Omit<OpenSetting, 'flags'> & { readonly maxBytes: number },
): Buffer {
  const file = openPlainFile(path, { follow, files })
  try {
    const pieces: Buffer[] = []
    let bytes = 0
    for (;;) {
      const piece = Buffer.allocUnsafe(Math.min(pieceBytes, maxBytes + 1))
      const read = files.readSync(file, piece, 0, piece.length, null)
      if (read === 0) return Buffer.concat(pieces)
      bytes += read
      if (bytes > maxBytes) throw failure('EFBIG', { path, words: `has more than ${maxBytes} bytes` })
      pieces.push(piece.subarray(0, read))
    }
  } finally {
    closeFile(file, files)
  }
}

/** Flags to append to a file, which is made if there is none. */
export const appendFlags = constants.O_WRONLY | constants.O_APPEND | O_CREAT

/** Closes a descriptor. Returns the error of the file system: thrown, it would hide an earlier one. */
export function closeFile(file: number, files = nodeFiles): unknown {
  try {
    files.closeSync(file)
    return undefined
  } catch (error) {
    return error
  }
}

/** The reason why a path is not that of a regular file; undefined if it is. Throws the error of the file system. */
export function faultOfFile(path: string, files = nodeFiles): string | undefined {
  return faultOf(files.lstatSync(path))?.words
}

function requireFile(path: string, facts: FileFacts): void {
  const fault = faultOf(facts)
  if (fault !== undefined) throw failure(fault.code, { path, words: fault.words })
}

function faultOf(facts: FileFacts): { readonly code: string; readonly words: string } | undefined {
  if (facts.isFile()) return undefined
  if (facts.isDirectory()) return { code: 'EISDIR', words: 'is a folder, not a file' }
  if (facts.isSymbolicLink()) return { code: 'ELOOP', words: 'is a symbolic link, not a file' }
  const kind = facts.isFIFO() ? 'named pipe' : facts.isSocket() ? 'socket' : 'device'
  return { code: 'EFTYPE', words: `is a ${kind}, not a file` }
}

function failure(code: string, { path, words }: { readonly path: string; readonly words: string }): Error {
  return Object.assign(new Error(`${code}: ${path} ${words}`), { code, path })
}
