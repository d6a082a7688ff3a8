import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { bootOfMachine, currentOwner, isCurrent, machineOwners, type Owner, ownerOf } from '../../src/spool/owner.js'

const { stateOf, isInUse } = machineOwners
const own = currentOwner()
const { host, pid } = own
const deadPid = spawnSync('true').pid

/** The system does not let this user see other processes. */
function hideProcesses(code: string): void {
  vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error(code), { code })
  })
}

afterEach(() => vi.restoreAllMocks())

describe('the calling thread as an owner', () => {
  it('is named with its start, and with this run of the machine', () => {
    const afterName = readFileSync('/proc/thread-self/stat', 'utf8').split(') ').at(-1)!
    expect(own.started).toBe(afterName.split(' ')[19])
    expect(own.boot).toMatch(/^[0-9a-f-]{36}$/)
    expect(bootOfMachine()).toBe(own.boot)
    expect(own.namespace).toMatch(/^pid:\[\d+\]$/)
    expect(stateOf(own)).toBe('alive')
  })

  it('differs from every other process, thread and start', () => {
    const others: (Owner | undefined)[] = [
      { ...own, pid: pid + 1 },
      { ...own, thread: own.thread! + 1 },
      { ...own, started: '1' },
      undefined,
    ]
    expect(isCurrent(own, machineOwners)).toBe(true)
    expect(others.map((each) => isCurrent(each, machineOwners))).toEqual([false, false, false, false])
  })
})

describe('the state of an owner', () => {
  it.each<[string, Owner]>([
    ['of which only the number is known, of a process that runs', { host, pid }],
    ['of which only the number is known, on another machine', { host: 'elsewhere', pid: deadPid }],
    ['of another run of the machine', { ...own, boot: 'another' }],
    ['of another container', { ...own, namespace: 'pid:[1]' }],
    ['without a thread', { host, pid, boot: own.boot!, namespace: own.namespace!, started: own.started! }],
  ])('is unknown for one %s', (_, owner) => {
    expect(stateOf(owner)).toBe('unknown')
  })

  it.each<[string, Owner]>([
    ['of which only the number is known, and no process has it', { host, pid: deadPid }],
    ['without a start, and no process has its number', { ...own, pid: deadPid, started: undefined! }],
    ['without a thread, and no process has its number', { ...own, pid: deadPid, thread: undefined! }],
    ['whose process is gone', { ...own, pid: deadPid }],
    ['whose number another thread has by now', { ...own, started: '1' }],
    ['whose thread is gone, while its process runs', { ...own, thread: deadPid }],
  ])('is dead for one %s', (_, owner) => {
    expect(stateOf(owner)).toBe('dead')
  })

  it('is unknown where the processes of other users are hidden', () => {
    hideProcesses('EPERM')
    expect(isInUse(deadPid)).toBe('hidden')
    expect(stateOf({ ...own, pid: deadPid })).toBe('unknown')
    expect(stateOf({ host, pid: deadPid })).toBe('unknown')
  })

  it('is dead where there is no such process', () => {
    hideProcesses('ESRCH')
    expect(isInUse(deadPid)).toBe(false)
    expect(stateOf({ ...own, pid: deadPid })).toBe('dead')
  })
})

describe('the text of a lock', () => {
  it.each<[string, unknown]>([
    ['a host that is no text', { ...own, host: 1 }],
    ['a host with a control character', { ...own, host: 'a\n' }],
    ['process 0', { ...own, pid: 0 }],
    ['a start that is no text', { ...own, started: 1 }],
    ['nothing', undefined],
  ])('names no owner when it has %s', (_, value) => {
    expect(ownerOf(value)).toBeUndefined()
  })

  it('names an owner with or without a thread', () => {
    expect(ownerOf(own)).toBe(own)
    expect(ownerOf({ host, pid })).toEqual({ host, pid })
  })
})
