import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'

/** 0 where the platform does not have them. */
const { O_RDONLY, O_CREAT, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants
const ownerOnly = 0o600
const pieceBytes = 65_536

export interface OpenSetting {
  /** Take the file to which a symbolic link leads; otherwise a link is an error. @default false */
  readonly follow?: boolean
  /** Of `node:fs`. @default O_RDONLY */
  readonly flags?: number
}

/**
 * Open a regular file and nothing else: a named pipe would hold the thread until its other end is opened, and a device may never end.
 * The answer is its descriptor.
 *
 * @throws what the file system says; for anything that is no regular file an error with the code `EISDIR`, `ELOOP` (a symbolic link)
 *   or `EFTYPE`
 */
export function openPlainFile(path: string, { follow = false, flags = O_RDONLY }: OpenSetting = {}): number {
  const facts = follow ? statSync(path, { throwIfNoEntry: false }) : lstatSync(path, { throwIfNoEntry: false })
  // Without an entry the call below says so, or makes the file.
  if (facts !== undefined) requireFile(path, facts)
  const file = openSync(path, flags | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW), ownerOnly)
  try {
    // The name may stand for something else by now.
    requireFile(path, fstatSync(file))
  } catch (error) {
    closeFile(file)
    throw error
  }
  return file
}

/**
 * Read a regular file as a whole. Throws as {@link openPlainFile} does, and `EFBIG` where there is more than `maxBytes`.
 */
export function readPlainFile(
  path: string,
  { maxBytes, follow = false }: { readonly maxBytes: number; readonly follow?: boolean },
): Buffer {
  const file = openPlainFile(path, { follow })
  try {
    const pieces: Buffer[] = []
    let bytes = 0
    for (;;) {
      const piece = Buffer.allocUnsafe(pieceBytes)
      const read = readSync(file, piece, 0, pieceBytes, null)
      if (read === 0) return Buffer.concat(pieces)
      bytes += read
      if (bytes > maxBytes) throw failure('EFBIG', { path, words: `has more than ${maxBytes} bytes` })
      pieces.push(piece.subarray(0, read))
    }
  } finally {
    closeFile(file)
  }
}

/** Flags for adding to the end of a file, which is made where there is none. */
export const appendFlags = constants.O_WRONLY | constants.O_APPEND | O_CREAT

/** Close a descriptor. What the file system says against it is the answer: thrown, it would hide an error before it. */
export function closeFile(file: number): unknown {
  try {
    closeSync(file)
    return undefined
  } catch (error) {
    return error
  }
}

/** Why the name of a file stands for none; undefined when it stands for one. Throws what the file system does. */
export function faultOfFile(path: string): string | undefined {
  return faultOf(lstatSync(path))?.words
}

function requireFile(path: string, facts: Stats): void {
  const fault = faultOf(facts)
  if (fault !== undefined) throw failure(fault.code, { path, words: fault.words })
}

function faultOf(facts: Stats): { readonly code: string; readonly words: string } | undefined {
  if (facts.isFile()) return undefined
  if (facts.isDirectory()) return { code: 'EISDIR', words: 'is a folder, not a file' }
  if (facts.isSymbolicLink()) return { code: 'ELOOP', words: 'is a symbolic link, not a file' }
  const kind = facts.isFIFO() ? 'named pipe' : facts.isSocket() ? 'socket' : 'device'
  return { code: 'EFTYPE', words: `is a ${kind}, not a file` }
}

function failure(code: string, { path, words }: { readonly path: string; readonly words: string }): Error {
  return Object.assign(new Error(`${code}: ${path} ${words}`), { code, path })
}
