import { resolve } from 'node:path'
import { EntryJournal } from './entry-journal.js'
import { type FailureCode, failure } from './failure.js'
import type { Loss } from './file-content.js'
import { type FileNode, type FolderNode, type Node, newFile, newFolder } from './node.js'

/** A path, and the entry there if there is one. */
export interface Place {
  readonly folder: FolderNode
  readonly name: string
  readonly node: Node | undefined
}

/** Permissions that new files and folders never get. */
const umask = 0o022

/** Folders and files by path. It behaves as Linux does for a user who may do everything. There are no symbolic links. */
export class FileTree {
  readonly root: FolderNode
  readonly #now: () => number
  readonly #journal = new EntryJournal()

  /** @param now milliseconds since 1970 */
  constructor(now: () => number) {
    this.#now = now
    this.root = newFolder(0o755, now())
  }

  /** Throws ENOENT and ENOTDIR when the folder of the path does not exist. */
  placeOf(path: string, syscall: string): Place {
    const names = resolve(path).split('/').filter(Boolean)
    const last = names.pop() ?? ''
    let node: Node | undefined = this.root
    for (const name of names) {
      if (node.type === 'file') throw failure('ENOTDIR', { syscall, path })
      node = node.entries.get(name)
      if (node === undefined) throw failure('ENOENT', { syscall, path })
    }
    if (node.type === 'file') throw failure('ENOTDIR', { syscall, path })
    return { folder: node, name: last, node: last === '' ? node : node.entries.get(last) }
  }

  /** Throws ENOENT and ENOTDIR. */
  nodeAt(path: string, syscall: string): Node {
    const { node } = this.placeOf(path, syscall)
    if (node === undefined) throw failure('ENOENT', { syscall, path })
    return node
  }

  /** Make a file at a place without an entry. */
  makeFile({ folder, name }: Place, mode: number): FileNode {
    const file = newFile(mode & ~umask, this.#now())
    this.#enter(file, { folder, name })
    return file
  }

  makeFolder(path: string, mode: number): void {
    const place = this.placeOf(path, 'mkdir')
    if (place.node !== undefined) throw failure('EEXIST', { syscall: 'mkdir', path })
    this.#enter(newFolder(mode & ~umask, this.#now()), place)
  }

  removeFolder(path: string): void {
    const place = this.placeOf(path, 'rmdir')
    const fail = (code: FailureCode) => failure(code, { syscall: 'rmdir', path })
    if (place.node === undefined) throw fail('ENOENT')
    if (place.node.type === 'file') throw fail('ENOTDIR')
    if (place.node.entries.size > 0) throw fail('ENOTEMPTY')
    place.node.exists = false
    this.#leave(place.node, place)
  }

  link(existing: string, path: string): void {
    const fail = (code: FailureCode) => failure(code, { syscall: 'link', path: existing })
    const node = this.nodeAt(existing, 'link')
    const place = this.placeOf(path, 'link')
    if (place.node !== undefined) throw fail('EEXIST')
    if (node.type === 'folder') throw fail('EPERM')
    node.links++
    this.#enter(node, place)
  }

  /** Returns the file. */
  unlink(path: string): FileNode {
    const place = this.placeOf(path, 'unlink')
    if (place.node === undefined) throw failure('ENOENT', { syscall: 'unlink', path })
    if (place.node.type === 'folder') throw failure('EISDIR', { syscall: 'unlink', path })
    place.node.links--
    this.#leave(place.node, place)
    return place.node
  }

  /** Returns what the path led to before. */
  rename(from: string, to: string): Node | undefined {
    const fail = (code: FailureCode) => failure(code, { syscall: 'rename', path: from })
    const source = this.placeOf(from, 'rename')
    const target = this.placeOf(to, 'rename')
    const { node } = source
    if (node === undefined) throw fail('ENOENT')
    if (node.type === 'folder' && isWithin(target.folder, node)) throw fail('EINVAL')
    if (target.node === node) return undefined
    if (target.node?.type === 'folder') {
      if (isWithin(source.folder, target.node)) throw fail('ENOTEMPTY')
      if (node.type === 'file') throw fail('EISDIR')
      if (target.node.entries.size > 0) throw fail('ENOTEMPTY')
      target.node.exists = false
    } else if (target.node !== undefined) {
      if (node.type === 'folder') throw fail('ENOTDIR')
      target.node.links--
    }
    source.folder.entries.delete(source.name)
    target.folder.entries.set(target.name, node)
    this.#touch(source.folder)
    this.#touch(target.folder)
    this.#journal.add(node, { from: source, to: target })
    return target.node
  }

  /** The entries of a folder are on the disk from now on. */
  sync(folder: FolderNode): void {
    this.#journal.sync(folder)
  }

  /** The power is lost. */
  lose(loss: Loss): void {
    this.#journal.lose(loss)
    for (const file of this.files()) file.links = 0
    restore(this.root)
    for (const file of this.files()) {
      file.links++
      file.opened = 0
      if (file.links === 1) file.content.lose(loss)
    }
  }

  /** The files, with those of several entries as often. */
  *files(folder = this.root): Generator<FileNode> {
    for (const node of folder.entries.values()) {
      if (node.type === 'file') yield node
      else yield* this.files(node)
    }
  }

  #enter(node: Node, { folder, name }: Pick<Place, 'folder' | 'name'>): void {
    folder.entries.set(name, node)
    this.#touch(folder)
    this.#journal.add(node, { to: { folder, name } })
  }

  #leave(node: Node, { folder, name }: Place): void {
    folder.entries.delete(name)
    this.#touch(folder)
    this.#journal.add(node, { from: { folder, name } })
  }

  #touch(folder: FolderNode): void {
    folder.mtimeMs = this.#now()
  }
}

/** Let programs see what is on the disk. */
function restore(folder: FolderNode): void {
  folder.exists = true
  folder.entries = new Map(folder.durable)
  for (const node of folder.entries.values()) if (node.type === 'folder') restore(node)
}

function isWithin(inner: FolderNode, outer: FolderNode): boolean {
  return inner === outer || [...outer.entries.values()].some((node) => node.type === 'folder' && isWithin(inner, node))
}
