import { constants } from 'node:fs'
import { failure } from './failure.js'
import type { Node } from './node.js'

const { O_RDONLY, O_WRONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_TRUNC } = constants
const accessMode = O_WRONLY | O_RDWR
const written: Readonly<Record<string, number>> = {
  r: O_RDONLY,
  'r+': O_RDWR,
  w: O_TRUNC | O_CREAT | O_WRONLY,
  wx: O_TRUNC | O_CREAT | O_WRONLY | O_EXCL,
  a: O_APPEND | O_CREAT | O_WRONLY,
  ax: O_APPEND | O_CREAT | O_WRONLY | O_EXCL,
}

/** The flags of an open file. */
export interface OpenFlags {
  readonly reads: boolean
  readonly writes: boolean
  readonly appends: boolean
  readonly creates: boolean
  readonly exclusive: boolean
  readonly truncates: boolean
}

export function openFlags(flags: string | number): OpenFlags {
  const bits = typeof flags === 'number' ? flags : written[flags]
  if (bits === undefined) throw new TypeError(`the simulated disk does not know the flags ${flags}`)
  const access = bits & accessMode
  return {
    reads: access !== O_WRONLY,
    writes: access !== O_RDONLY,
    appends: (bits & O_APPEND) !== 0,
    creates: (bits & O_CREAT) !== 0,
    exclusive: (bits & O_EXCL) !== 0,
    truncates: (bits & O_TRUNC) !== 0,
  }
}

export interface Descriptor {
  readonly path: string
  readonly node: Node
  readonly flags: OpenFlags
  position: number
}

/** The open files of a thread. */
export class Descriptors {
  readonly #open = new Map<number, Descriptor>()
  /** So that no descriptor of another thread is taken for one of these. */
  readonly #nextNumber: () => number

  constructor(nextNumber: () => number) {
    this.#nextNumber = nextNumber
  }

  get count(): number {
    return this.#open.size
  }

  open(descriptor: Descriptor): number {
    const number = this.#nextNumber()
    if (descriptor.node.type === 'file') descriptor.node.opened++
    this.#open.set(number, descriptor)
    return number
  }

  /** Throws EBADF. */
  of(number: number, syscall: string): Descriptor {
    const descriptor = this.#open.get(number)
    if (descriptor === undefined) throw failure('EBADF', { syscall, path: '' })
    return descriptor
  }

  /** The open file may be read from or written to; throws EBADF otherwise, and EISDIR for a folder. */
  fileOf(number: number, access: 'read' | 'write') {
    const descriptor = this.of(number, access)
    const { node, flags } = descriptor
    if (!(access === 'read' ? flags.reads : flags.writes)) throw failure('EBADF', { syscall: access, path: '' })
    if (node.type === 'folder') throw failure('EISDIR', { syscall: access, path: '' })
    return { descriptor, file: node }
  }

  /** Returns the node. Throws EBADF. */
  close(number: number): Node {
    const { node } = this.of(number, 'close')
    this.#open.delete(number)
    if (node.type === 'file') node.opened--
    return node
  }

  /** Returns the nodes. */
  closeAll(): Node[] {
    return [...this.#open.keys()].map((number) => this.close(number))
  }
}
