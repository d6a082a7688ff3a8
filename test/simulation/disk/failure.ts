import { constants } from 'node:os'

const words = {
  EBADF: 'bad file descriptor',
  EDQUOT: 'disk quota exceeded',
  EEXIST: 'file already exists',
  EFBIG: 'file too large',
  EINVAL: 'invalid argument',
  EIO: 'i/o error',
  EISDIR: 'illegal operation on a directory',
  EMFILE: 'too many open files',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  EPERM: 'operation not permitted',
  EROFS: 'read-only file system',
} as const

export type FailureCode = keyof typeof words

/** An error as `node:fs` throws it. */
export function failure(code: FailureCode, { syscall, path }: { syscall: string; path: string }): Error {
  const named = path === '' ? '' : ` '${path}'`
  const errno = -constants.errno[code]
  return Object.assign(new Error(`${code}: ${words[code]}, ${syscall}${named}`), { errno, code, syscall, path })
}
