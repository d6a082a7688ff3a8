import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { type Clock, systemClock } from '../runtime/clock.js'

/** Time between two looks, and what a disk may take to answer one. */
const lookEveryMs = 30_000
const patienceMs = 5_000

/** Writes a file, has it on the disk, and removes it again. */
const look = `
const fs = require('node:fs')
const file = process.argv[1]
const handle = fs.openSync(file, 'wx', 0o600)
try { fs.writeSync(handle, '.'); fs.fsyncSync(handle) } finally { fs.closeSync(handle); fs.unlinkSync(file) }`

/**
 * Call `answers` once the disk of a folder takes a file again: at once, then every 30 s. Another process looks, for whoever touches a
 * disk that does not answer stands still, and no process with such a thread can end. Where no process can be started, it is never called.
 *
 * @returns stops looking
 */
export function whenDiskAnswers(folder: string, answers: () => void, clock: Clock = systemClock): () => void {
  let stopped = false
  const lookOnce = () => {
    if (stopped) return
    const child = startLook(folder)
    child?.unref()
    child?.once('error', again)
    child?.once('exit', (code) => {
      if (code !== 0) again()
      else if (!stopped) answers()
    })
  }
  const again = () => void clock.schedule(lookOnce, lookEveryMs)
  lookOnce()
  return () => {
    stopped = true
  }
}

/** Undefined where processes are not allowed. */
function startLook(folder: string): ChildProcess | undefined {
  try {
    const file = join(folder, `.look-${process.pid}-${Date.now()}`)
    const setting = { timeout: patienceMs, killSignal: 'SIGKILL', env: { ...process.env, NODE_OPTIONS: '' } } as const
    return spawn(process.execPath, ['-e', look, file], { stdio: 'ignore', detached: true, ...setting })
  } catch {
    return undefined
  }
}
