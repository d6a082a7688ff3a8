import { dirname, sep } from 'node:path'
import type { FileFacts, Files } from '../../src/runtime/files.js'
import { nodeFiles } from '../../src/runtime/files.js'

/**
 * A real folder that answers as Node.js on Windows does, as far as its documents and libuv's source tell: a folder cannot be synced; a folder in
 * which a file is open cannot be renamed or removed; an open file can be neither replaced, renamed nor removed, which is stricter than NTFS is; and
 * nobody owns anything.
 */
export function windowsFiles(): Files {
  const open = new Map<number, string>()
  const fail = (code: string, call: string): never => {
    throw Object.assign(new Error(`${code}: ${call}`), { code })
  }
  const isOpen = (path: string) => [...open.values()].some((each) => each === path || each.startsWith(`${path}${sep}`))
  const facts = <Facts extends FileFacts | undefined>(found: Facts): Facts =>
    found === undefined
      ? found
      : Object.assign(found, { uid: 0, gid: 0, mode: found.isDirectory() ? 0o40666 : 0o100666 })
  return {
    ...nodeFiles,
    openSync(path, flags, mode) {
      const file = nodeFiles.openSync(path, flags, mode)
      open.set(file, path)
      return file
    },
    closeSync(file) {
      open.delete(file)
      nodeFiles.closeSync(file)
    },
    fsyncSync(file) {
      if (nodeFiles.fstatSync(file).isDirectory()) fail('EPERM', 'fsync')
      nodeFiles.fsyncSync(file)
    },
    fstatSync: (file) => facts(nodeFiles.fstatSync(file)),
    statSync: ((path: string, options: { throwIfNoEntry: false }) =>
      facts(nodeFiles.statSync(path, options))) as Files['statSync'],
    lstatSync: ((path: string, options: { throwIfNoEntry: false }) =>
      facts(nodeFiles.lstatSync(path, options))) as Files['lstatSync'],
    renameSync(from, to) {
      if (isOpen(from) || isOpen(to)) fail('EPERM', `rename ${from} ${to}`)
      nodeFiles.renameSync(from, to)
    },
    unlinkSync(path) {
      if (isOpen(path)) fail('EBUSY', `unlink ${path}`)
      nodeFiles.unlinkSync(path)
    },
    rmdirSync(path) {
      if (isOpen(path)) fail('EPERM', `rmdir ${path} in ${dirname(path)}`)
      nodeFiles.rmdirSync(path)
    },
  }
}
