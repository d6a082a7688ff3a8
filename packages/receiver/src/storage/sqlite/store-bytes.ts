import { statSync } from 'node:fs'

/** Size of a database with its journals, in bytes; 0 where there is none. */
export function bytesOnDisk(path: string): number {
  const sizes = ['', '-wal', '-journal'].map((end) => statSync(path + end, { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size)
}
