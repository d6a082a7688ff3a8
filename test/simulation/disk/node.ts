import { FileContent } from './file-content.js'

/** Facts that files and folders share. */
interface Common {
  readonly mode: number
  /** Milliseconds since 1970. */
  mtimeMs: number
}

export interface FileNode extends Common {
  readonly type: 'file'
  readonly content: FileContent
  /** Entries that lead to it. */
  links: number
  /** Descriptors that are open. */
  opened: number
}

export interface FolderNode extends Common {
  readonly type: 'folder'
  /** As programs see them, in the order in which they were made. */
  entries: Map<string, Node>
  /** Those that survive a power loss. */
  durable: Map<string, Node>
  /** False when it was removed. */
  exists: boolean
}

export type Node = FileNode | FolderNode

export function newFile(mode: number, mtimeMs: number): FileNode {
  return { type: 'file', mode, mtimeMs, content: new FileContent(), links: 1, opened: 0 }
}

export function newFolder(mode: number, mtimeMs: number): FolderNode {
  return { type: 'folder', mode, mtimeMs, entries: new Map(), durable: new Map(), exists: true }
}
