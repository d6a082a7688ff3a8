import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs'

/** Facts about a file or folder. */
export type FileFacts = Pick<
  Stats,
  'uid' | 'gid' | 'mode' | 'size' | 'mtimeMs' | 'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket'
>

/** Facts about the entry at a path. Throws without one; with `throwIfNoEntry: false` it returns undefined. */
interface FactsOf {
  (path: string): FileFacts
  (path: string, options: { readonly throwIfNoEntry: false }): FileFacts | undefined
}

/**
 * A file system: a port, so that a test can cut the power. Functions and arguments are those of `node:fs`, and so are the errors that they
 * throw.
 */
export interface Files {
  /** @param flags as text, such as `ax`, or the sum of constants of `node:fs` */
  openSync(path: string, flags: string | number, mode?: number): number
  closeSync(file: number): void
  /** Returns how many bytes were read: 0 at the end. @param position null: go on after the last read */
  readSync(file: number, bytes: Buffer, offset: number, length: number, position: number | null): number
  /** Write the bytes from `offset` on. Returns how many of them were taken. */
  writeSync(file: number, bytes: Buffer, offset: number): number
  fsyncSync(file: number): void
  fdatasyncSync(file: number): void
  ftruncateSync(file: number, length: number): void
  fstatSync(file: number): FileFacts
  statSync: FactsOf
  lstatSync: FactsOf
  existsSync(path: string): boolean
  /** The names in a folder, in any order. */
  readdirSync(path: string): string[]
  mkdirSync(path: string, options: { readonly mode: number }): void
  rmdirSync(path: string): void
  linkSync(existing: string, path: string): void
  renameSync(from: string, to: string): void
  unlinkSync(path: string): void
  utimesSync(path: string, accessed: Date, modified: Date): void
}

/** The file system of the machine. */
export const nodeFiles: Files = {
  openSync,
  closeSync,
  readSync,
  writeSync,
  fsyncSync,
  fdatasyncSync,
  ftruncateSync,
  fstatSync,
  statSync,
  lstatSync,
  existsSync,
  readdirSync,
  mkdirSync,
  rmdirSync,
  linkSync,
  renameSync,
  unlinkSync,
  utimesSync,
}
