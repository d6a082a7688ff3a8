import { uptime } from 'node:os'
import { bootId } from '../../spool/lock.js'

const minuteMs = 60_000

/** Names the time since the machine was started: the same as long as it is up. */
export function bootOfMachine(): string {
  boot ??= readBoot()
  return boot
}

let boot: string | undefined

function readBoot(): string {
  try {
    return bootId()
  } catch {
    // Elsewhere than on Linux: the minute of the start. One that is wrongly another costs a few lines that are named in vain.
    return `minute ${Math.round(Date.now() / minuteMs - uptime() / 60)}`
  }
}
