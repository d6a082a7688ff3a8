import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, uptime } from 'node:os'

/** The thread that holds a lock. */
export interface Owner {
  readonly host: string
  readonly pid: number
  /** Linux only: this run of the machine, the process namespace, the thread, and its start in ticks. */
  readonly boot?: string
  readonly namespace?: string
  readonly thread?: number
  readonly started?: string
}

/** `unknown`: the owner cannot be seen from here. It is in another container, on another machine, or not on Linux. */
export type OwnerState = 'alive' | 'dead' | 'unknown'

/** The threads that may hold a lock, as the calling thread sees them. */
export interface Owners {
  /** The calling thread. */
  current(): Owner
  stateOf(owner: Owner): OwnerState
  /** True when there is a process of this number here; `hidden` when it belongs to another user. */
  isInUse(pid: number): boolean | 'hidden'
}

/** The calling thread. */
export function currentOwner(): Owner {
  const self = { host: hostname(), pid: process.pid }
  try {
    // The link has the form 7/task/9. A worker may end before its process, so its thread counts.
    const thread = Number(readlinkSync('/proc/thread-self').split('/')[2])
    return { ...self, ...surroundings(), thread, started: startOfThread(process.pid, thread)! }
  } catch {
    return self
  }
}

/** True for the calling thread; where threads cannot be told apart, for every thread of this process. */
export function isCurrent(owner: Owner | undefined, owners: Owners): boolean {
  const { pid, thread, started } = owners.current()
  return owner?.pid === pid && owner.thread === thread && owner.started === started
}

/** The owner that a lock file names; undefined for any value that no thread writes. */
export function ownerOf(value: unknown): Owner | undefined {
  const { host, pid, thread, started } = (value ?? {}) as Partial<Record<keyof Owner, unknown>>
  if (typeof host !== 'string' || /\p{Cc}/u.test(host) || !isProcessNumber(pid)) return undefined
  if (thread !== undefined && !isProcessNumber(thread)) return undefined
  return started === undefined || typeof started === 'string' ? (value as Owner) : undefined
}

/** A number below 1 means a group of processes, or all of them. */
function isProcessNumber(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0
}

/** Process numbers are used again, and in several containers at once: the start of the thread decides. */
function stateOf(owner: Owner): OwnerState {
  const { pid, thread, started } = owner
  if (thread === undefined || started === undefined) {
    return owner.host === hostname() && isInUse(pid) === false ? 'dead' : 'unknown'
  }
  try {
    const { boot, namespace } = surroundings()
    if (owner.boot !== boot || owner.namespace !== namespace) return 'unknown'
  } catch {
    return 'unknown'
  }
  const found = startOfThread(pid, thread)
  if (found !== undefined) return found === started ? 'alive' : 'dead'
  // Linux may hide the processes of other users.
  return isInUse(pid) === 'hidden' ? 'unknown' : 'dead'
}

function surroundings(): { readonly boot: string; readonly namespace: string } {
  return { boot: bootId(), namespace: readlinkSync('/proc/self/ns/pid') }
}

/** Throws on any system but Linux. */
function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

const minuteMs = 60_000
let boot: string | undefined

/** A name for this run of the machine: it changes when the machine starts again. */
export function bootOfMachine(): string {
  boot ??= readBoot()
  return boot
}

function readBoot(): string {
  try {
    return bootId()
  } catch {
    // The minute of the start. A change of the system clock can move it: then a few lines are reported that are not missing.
    return `minute ${Math.round(Date.now() / minuteMs - uptime() / 60)}`
  }
}

/** The start of a thread in ticks since the machine was started; undefined for no such thread, and on any system but Linux. */
function startOfThread(pid: number, thread: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
    // The program's name stands in brackets and may contain anything. After it come the state and, as the 20th word, the start.
    const words = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return /^[ZX]$/.test(words[0] ?? '') ? undefined : words[19]
  } catch {
    return undefined
  }
}

function isInUse(pid: number): boolean | 'hidden' {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'hidden' : false
  }
}

/** The owners of the machine. */
export const machineOwners: Owners = { current: currentOwner, stateOf, isInUse }
