import type { Timer } from '../../../src/runtime/clock.js'
import type { Files } from '../../../src/runtime/files.js'
import type { Owners } from '../../../src/spool/owner.js'
import type { SimulatedThread } from '../simulated-thread.js'
import type { World } from '../world.js'
import { DiskFaults, type DiskOperation } from './disk-faults.js'
import { type FailureCode, failure } from './failure.js'
import type { Loss } from './file-content.js'
import { FileTree } from './file-tree.js'
import type { FileNode, Node } from './node.js'
import { type Call, SimulatedFiles } from './simulated-files.js'
import { type OwnerPlan, SimulatedOwners } from './simulated-owners.js'

export interface KillPlan {
  readonly thread: SimulatedThread
  /** The thread dies at its so many-th next operation, from 1. */
  readonly operations: number
  /** Only these operations count. @default all */
  readonly only?: DiskOperation
  /** True: the operation has its effect before. False: it has none, except that with `torn` a write takes a part of its bytes. */
  readonly after: boolean
  /** @default false */
  readonly torn?: boolean
  /** Kills the process of the thread, or cuts the power. */
  readonly kill: () => void
}

const probeMs = 50
const probeEveryMs = 30_000

/** A kill that is to come. */
interface PendingKill extends KillPlan {
  left: number
}

/**
 * A disk in memory with crash consistency, as in "All File Systems Are Not Created Equal" (Pillai et al., OSDI '14): a power loss takes a
 * random part of whatever was not synced, and the death of a process takes nothing. A sync of a new file does not bring its name to the
 * disk; that takes a sync of its folder. What happens follows from the seed of the world.
 */
export class SimulatedDisk {
  readonly faults = new DiskFaults()
  /** How often each of the things happened that {@link reached} is told. */
  readonly happened = new Map<string, number>()
  /** Calls of all programs. */
  operations = 0
  readonly #world: World
  readonly #random: () => number
  readonly #reached: (name: string) => void
  readonly #loss: Loss
  readonly #tree: FileTree
  readonly #owners = new SimulatedOwners()
  readonly #files: SimulatedFiles[] = []
  readonly #kills = new Map<SimulatedThread, PendingKill>()
  /** Files of which the last write was short. */
  readonly #short = new WeakSet<FileNode>()
  #used = 0
  #descriptors = 100

  /** @param options `reached` is told what happens, such as `disk: ENOSPC at write` */
  constructor(world: World, { reached = () => {} }: { readonly reached?: (name: string) => void } = {}) {
    this.#world = world
    this.#random = world.random('disk')
    this.#tree = new FileTree(() => world.wallClock(world.now))
    this.#reached = (name) => {
      this.happened.set(name, (this.happened.get(name) ?? 0) + 1)
      world.note(name)
      reached(name)
    }
    this.#loss = { random: this.#random, reached: this.#reached }
  }

  /** The file system for the code of a thread. Its files are closed when the thread dies. */
  filesOf(thread: SimulatedThread): Files {
    const files = new SimulatedFiles({
      tree: this.#tree,
      now: () => this.#world.wallClock(thread.clock.now()),
      perform: (call, effect) => this.#perform(thread, { call, effect }),
      room: (file, writing) => this.#room(file, writing),
      freed: (bytes) => {
        this.#used -= bytes
      },
      sync: (node) => (node.type === 'file' ? node.content.sync() : this.#tree.sync(node)),
      failToSync: (node) => {
        if (node.type === 'file') node.content.failToSync(this.#loss)
      },
      nextDescriptor: () => this.#descriptors++,
    })
    this.#files.push(files)
    thread.whenKilled(() => files.closeAll())
    return files
  }

  /** The port through which locks see the threads of the machine. A thread that was killed is dead. */
  ownersOf(thread: SimulatedThread, plan: OwnerPlan): Owners {
    return this.#owners.of(thread, plan)
  }

  /** The watch of a stalled disk: another process tries to write to it, now and every half minute. Returns an end of the watch. */
  whenItAnswers({ clock }: SimulatedThread, answers: () => void): () => void {
    let timer: Timer | undefined
    const probe = () => {
      const { hungUntilMs, readOnly } = this.faults
      if (hungUntilMs > clock.now() || readOnly) timer = clock.schedule(probe, probeEveryMs)
      else answers()
    }
    timer = clock.schedule(probe, probeMs)
    return () => timer?.cancel()
  }

  /** Kill a thread in the middle of its work. A later plan for the same thread replaces an earlier one. */
  killAt(plan: KillPlan): void {
    this.#kills.set(plan.thread, { ...plan, left: plan.operations })
  }

  /** The machine stops, and starts again: what was not synced may be gone. The caller kills the threads. */
  powerLoss(): void {
    this.#reached('disk: power loss')
    for (const files of this.#files) files.closeAll()
    this.#tree.lose(this.#loss)
    this.#owners.restart()
    this.#used = 0
    for (const file of new Set(this.#tree.files())) this.#used += file.content.size
  }

  /** Somebody deletes a folder with all that is in it. Files that are open stay until they are closed. */
  deleteFolder(path: string): void {
    for (const name of this.list(path)) {
      const each = `${path}/${name}`
      if (this.#find(each)?.type === 'folder') this.deleteFolder(each)
      else {
        const file = this.#tree.unlink(each)
        if (file.links === 0 && file.opened === 0) this.#used -= file.content.size
      }
    }
    if (this.#find(path) !== undefined) this.#tree.removeFolder(path)
  }

  /** The bytes of all files together. */
  get usedBytes(): number {
    return this.#used
  }

  /** Descriptors that are open, in all threads. */
  get openFiles(): number {
    return this.#files.reduce((sum, files) => sum + files.opened, 0)
  }

  /** The content of a file; undefined when there is none. For an oracle: it counts as no operation. */
  read(path: string): Buffer | undefined {
    const node = this.#find(path)
    return node?.type === 'file' ? Buffer.from(node.content.bytes) : undefined
  }

  /** The names in a folder in the order in which they were made; none without a folder. */
  list(path: string): string[] {
    const node = this.#find(path)
    return node?.type === 'folder' ? [...node.entries.keys()] : []
  }

  /** The paths of all files in a folder and its folders. */
  filesIn(path: string): string[] {
    return this.list(path).flatMap((name) => {
      const each = `${path === '/' ? '' : path}/${name}`
      return this.#find(each)?.type === 'file' ? each : this.filesIn(each)
    })
  }

  #find(path: string): Node | undefined {
    try {
      return this.#tree.nodeAt(path, 'open')
    } catch {
      return undefined
    }
  }

  #perform<Result>(
    thread: SimulatedThread,
    { call, effect }: { call: Call; effect: (bytes: number) => Result },
  ): Result {
    if (!thread.alive) throw dead(call)
    this.operations++
    const kill = this.#kills.get(thread)
    const counts = kill?.only === undefined || kill.only === call.operation
    if (kill !== undefined && counts && --kill.left <= 0) return this.#die(kill, { call, effect })
    const waitMs = this.#waitMs(thread)
    if (waitMs > 0) thread.block(waitMs)
    const code = this.#faultAt(call)
    if (code === undefined) return effect(call.bytes ?? 0)
    call.failed?.()
    this.#reached(`disk: ${code} at ${call.operation}`)
    throw failure(code, { syscall: call.operation, path: call.path ?? '' })
  }

  #die<Result>(
    { thread, after, torn = false, kill }: KillPlan,
    { call, effect }: { call: Call; effect: (bytes: number) => Result },
  ): never {
    this.#kills.delete(thread)
    const { operation, bytes = 0 } = call
    const cut = torn && !after && operation === 'write'
    const moment = cut ? 'in' : after ? 'after' : 'before'
    this.#reached(`disk: death ${moment} ${operation}`)
    try {
      if (after) effect(bytes)
      else if (cut) effect(Math.floor(this.#random() * bytes))
    } catch {
      // A call that fails has no effect.
    }
    kill()
    throw dead(call)
  }

  #faultAt({ operation, changes = false }: Call): FailureCode | undefined {
    const { at, readOnly } = this.faults
    if (readOnly && changes) return 'EROFS'
    const fault = at.get(operation)
    return fault !== undefined && this.#random() < fault.chance ? fault.code : undefined
  }

  #room(file: FileNode, { bytes, beyondEnd }: { bytes: number; beyondEnd: number }): number {
    const { capacityBytes, fileBytes, shortWrites } = this.faults
    const roomInFile = Math.max(0, fileBytes - file.content.size)
    if (beyondEnd > 0 && roomInFile === 0) {
      this.#reached('disk: EFBIG at write')
      throw failure('EFBIG', { syscall: 'write', path: '' })
    }
    const full = () => {
      this.#reached('disk: ENOSPC at write')
      return failure('ENOSPC', { syscall: 'write', path: '' })
    }
    if (this.#short.delete(file)) throw full()
    const missing = Math.max(0, this.#used + beyondEnd - capacityBytes, beyondEnd - roomInFile)
    let taken = Math.max(0, bytes - missing)
    if (taken === 0 && bytes > 0) throw full()
    if (shortWrites > 0 && taken > 1 && this.#random() < shortWrites) {
      taken = 1 + Math.floor(this.#random() * (taken - 1))
      this.#short.add(file)
    }
    if (taken < bytes) this.#reached('disk: short write')
    this.#used += Math.max(0, beyondEnd - (bytes - taken))
    return taken
  }

  #waitMs({ clock }: SimulatedThread): number {
    const { slowMs, hungUntilMs } = this.faults
    const hangsForMs = hungUntilMs - clock.now()
    if (hangsForMs > 0) this.#reached('disk: hung')
    return Math.max(slowMs, hangsForMs)
  }
}

/** The code of a dead thread may still run for a moment: it changes nothing. */
function dead({ operation, path = '' }: Call): Error {
  return failure('EIO', { syscall: operation, path })
}
