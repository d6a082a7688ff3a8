import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { systemClock } from './clock.js'

/** Time between two probes of a disk, and the time that each may take. */
const probeEveryMs = 30_000
const probeTimeoutMs = 5_000

/** Writes a file to the disk, and removes it. */
const probe = `
const fs = require('node:fs')
const file = process.argv[1]
const handle = fs.openSync(file, 'wx', 0o600)
try { fs.writeSync(handle, '.'); fs.fsyncSync(handle) } finally { fs.closeSync(handle); fs.unlinkSync(file) }`

/**
 * Call `answers` as soon as the disk of a folder takes a file again. Probes it at once, then every 30 s. A separate process does so: a
 * thread that waits for a stalled disk cannot be ended, and no process ends before all of its threads. Where no process can be started,
 * `answers` is never called.
 *
 * @returns stops the probes
 */
export function whenDiskAnswers(folder: string, answers: () => void): () => void {
  let stopped = false
  const probeOnce = () => {
    if (stopped) return
    const child = startProbe(folder)
    child?.unref()
    child?.once('error', again)
    child?.once('exit', (code) => {
      if (code !== 0) again()
      else if (!stopped) answers()
    })
  }
  const again = () => void systemClock.schedule(probeOnce, probeEveryMs)
  probeOnce()
  return () => {
    stopped = true
  }
}

/** Undefined where processes are not allowed. */
function startProbe(folder: string): ChildProcess | undefined {
  try {
    const file = join(folder, `.look-${process.pid}-${Date.now()}`)
    const setting = {
      timeout: probeTimeoutMs,
      killSignal: 'SIGKILL',
      env: { ...process.env, NODE_OPTIONS: '' },
    } as const
    return spawn(process.execPath, ['-e', probe, file], {
      stdio: 'ignore',
      detached: true,
      windowsHide: true,
      ...setting,
    })
  } catch {
    return undefined
  }
}
