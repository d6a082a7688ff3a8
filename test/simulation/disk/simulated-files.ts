import type { FileFacts, Files } from '../../../src/runtime/files.js'
import { Descriptors, openFlags } from './descriptors.js'
import type { DiskOperation } from './disk-faults.js'
import { failure } from './failure.js'
import type { FileTree } from './file-tree.js'
import type { FileNode, Node } from './node.js'

/** A call of a program. */
export interface Call {
  readonly operation: DiskOperation
  readonly path?: string
  /** True for a call that a read-only disk refuses. */
  readonly changes?: boolean
  /** The bytes of a write. */
  readonly bytes?: number
  /** Called when the disk fails. */
  readonly failed?: () => void
}

/** The disk behind the files of a thread. */
export interface DiskAccess {
  readonly tree: FileTree
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Make a call: its effect, unless the disk fails or the thread dies before it. `bytes` of them are to be written. */
  readonly perform: <Result>(call: Call, effect: (bytes: number) => Result) => Result
  /** How many bytes the disk takes, with so many beyond the end of the file. Throws ENOSPC. */
  readonly room: (file: FileNode, writing: { readonly bytes: number; readonly beyondEnd: number }) => number
  /** Called when so many bytes of files are gone. */
  readonly freed: (bytes: number) => void
  /** Bring the content of a file or folder to the disk. */
  readonly sync: (node: Node) => void
  /** Called when that fails. */
  readonly failToSync: (node: Node) => void
  readonly nextDescriptor: () => number
}

interface EntryOption {
  readonly throwIfNoEntry?: boolean
}

/** The file system as the code of one thread sees it. */
export class SimulatedFiles implements Files {
  readonly #disk: DiskAccess
  readonly #descriptors: Descriptors

  constructor(disk: DiskAccess) {
    this.#disk = disk
    this.#descriptors = new Descriptors(disk.nextDescriptor)
  }

  /** Descriptors that are open. */
  get opened(): number {
    return this.#descriptors.count
  }

  /** The process dies: the system closes its files. */
  closeAll(): void {
    for (const node of this.#descriptors.closeAll()) this.#release(node)
  }

  openSync(path: string, given: string | number, mode = 0o666): number {
    const { tree } = this.#disk
    const flags = openFlags(given)
    return this.#disk.perform({ operation: 'open', path, changes: flags.writes }, () => {
      const place = tree.placeOf(path, 'open')
      const fail = (code: 'EEXIST' | 'EISDIR' | 'ENOENT') => failure(code, { syscall: 'open', path })
      if (flags.creates && flags.exclusive && place.node !== undefined) throw fail('EEXIST')
      if (place.node === undefined && !flags.creates) throw fail('ENOENT')
      if (place.node?.type === 'folder' && (flags.writes || flags.creates)) throw fail('EISDIR')
      const node = place.node ?? tree.makeFile(place, mode)
      if (flags.truncates && node.type === 'file') this.#resize(node, 0)
      return this.#descriptors.open({ path, node, flags, position: 0 })
    })
  }

  closeSync(number: number): void {
    // As on Linux, a file is closed even if that fails.
    const node = this.#descriptors.close(number)
    this.#release(node)
    this.#disk.perform({ operation: 'close' }, () => {})
  }

  readSync(number: number, bytes: Buffer, offset: number, length: number, position: number | null): number {
    return this.#disk.perform({ operation: 'read' }, () => {
      const { descriptor, file } = this.#descriptors.fileOf(number, 'read')
      const start = position ?? descriptor.position
      const read = file.content.bytes.copy(bytes, offset, Math.min(start, file.content.size), start + length)
      if (position === null) descriptor.position += read
      return read
    })
  }

  writeSync(number: number, bytes: Buffer, offset: number): number {
    const wanted = bytes.length - offset
    return this.#disk.perform({ operation: 'write', changes: true, bytes: wanted }, (most) => {
      const { descriptor, file } = this.#descriptors.fileOf(number, 'write')
      const { content } = file
      const start = descriptor.flags.appends ? content.size : descriptor.position
      const beyondEnd = Math.max(0, start + most - content.size)
      const taken = this.#disk.room(file, { bytes: most, beyondEnd })
      if (taken > 0) content.write(start, bytes.subarray(offset, offset + taken))
      descriptor.position = start + taken
      file.mtimeMs = this.#disk.now()
      return taken
    })
  }

  fsyncSync(number: number): void {
    const node = () => this.#descriptors.of(number, 'fsync').node
    const failed = () => this.#disk.failToSync(node())
    this.#disk.perform({ operation: 'fsync', changes: true, failed }, () => this.#disk.sync(node()))
  }

  fdatasyncSync(number: number): void {
    this.fsyncSync(number)
  }

  ftruncateSync(number: number, length: number): void {
    this.#disk.perform({ operation: 'truncate', changes: true }, () => {
      const { node, flags } = this.#descriptors.of(number, 'ftruncate')
      if (!flags.writes || node.type === 'folder') throw failure('EINVAL', { syscall: 'ftruncate', path: '' })
      this.#resize(node, Math.max(0, length))
      node.mtimeMs = this.#disk.now()
    })
  }

  fstatSync(number: number): FileFacts {
    return this.#disk.perform({ operation: 'stat' }, () => new Facts(this.#descriptors.of(number, 'fstat').node))
  }

  statSync(path: string): FileFacts
  statSync(path: string, options: EntryOption): FileFacts | undefined
  statSync(path: string, options?: EntryOption): FileFacts | undefined {
    return this.#facts(path, { syscall: 'stat', ...options })
  }

  lstatSync(path: string): FileFacts
  lstatSync(path: string, options: EntryOption): FileFacts | undefined
  lstatSync(path: string, options?: EntryOption): FileFacts | undefined {
    return this.#facts(path, { syscall: 'lstat', ...options })
  }

  existsSync(path: string): boolean {
    try {
      return this.#facts(path, { syscall: 'access' }) !== undefined
    } catch {
      return false
    }
  }

  readdirSync(path: string): string[] {
    return this.#disk.perform({ operation: 'list', path }, () => {
      const node = this.#disk.tree.nodeAt(path, 'scandir')
      if (node.type === 'file') throw failure('ENOTDIR', { syscall: 'scandir', path })
      return [...node.entries.keys()]
    })
  }

  mkdirSync(path: string, { mode }: { readonly mode: number }): void {
    this.#disk.perform({ operation: 'mkdir', path, changes: true }, () => this.#disk.tree.makeFolder(path, mode))
  }

  rmdirSync(path: string): void {
    this.#disk.perform({ operation: 'rmdir', path, changes: true }, () => this.#disk.tree.removeFolder(path))
  }

  linkSync(existing: string, path: string): void {
    this.#disk.perform({ operation: 'link', path, changes: true }, () => this.#disk.tree.link(existing, path))
  }

  renameSync(from: string, to: string): void {
    this.#disk.perform({ operation: 'rename', path: from, changes: true }, () => {
      this.#release(this.#disk.tree.rename(from, to))
    })
  }

  unlinkSync(path: string): void {
    this.#disk.perform({ operation: 'unlink', path, changes: true }, () => {
      this.#release(this.#disk.tree.unlink(path))
    })
  }

  utimesSync(path: string, _accessed: Date, modified: Date): void {
    this.#disk.perform({ operation: 'utimes', path, changes: true }, () => {
      this.#disk.tree.nodeAt(path, 'utime').mtimeMs = modified.getTime()
    })
  }

  #facts(path: string, { syscall, throwIfNoEntry = true }: EntryOption & { readonly syscall: string }) {
    return this.#disk.perform({ operation: 'stat', path }, () => {
      try {
        return new Facts(this.#disk.tree.nodeAt(path, syscall))
      } catch (error) {
        if (!throwIfNoEntry && (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    })
  }

  #resize(file: FileNode, size: number): void {
    const before = file.content.size
    file.content.resize(size)
    this.#disk.freed(before - size)
  }

  /** The bytes of a file are free when nothing leads to it. */
  #release(node: Node | undefined): void {
    if (node?.type === 'file' && node.links === 0 && node.opened === 0) this.#disk.freed(node.content.size)
  }
}

const user = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 }

/** Facts about a file or folder at this moment. */
class Facts implements FileFacts {
  readonly uid = user.uid
  readonly gid = user.gid
  readonly mode: number
  readonly size: number
  readonly mtimeMs: number
  readonly #isFile: boolean

  constructor(node: Node) {
    this.#isFile = node.type === 'file'
    this.mode = node.mode | (this.#isFile ? 0o100000 : 0o040000)
    this.size = node.type === 'file' ? node.content.size : 4096
    this.mtimeMs = node.mtimeMs
  }

  isFile(): boolean {
    return this.#isFile
  }

  isDirectory(): boolean {
    return !this.#isFile
  }

  isSymbolicLink(): boolean {
    return false
  }

  isFIFO(): boolean {
    return false
  }

  isSocket(): boolean {
    return false
  }
}
