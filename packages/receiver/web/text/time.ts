import { signal } from '@preact/signals'

const storageKey = 'sluice-utc'

/** True while times are shown in UTC. The browser remembers it. */
export const inUtc = signal(isRemembered())

/** Shows times in UTC, or in local time. */
export function showUtc(utc: boolean): void {
  inUtc.value = utc
  try {
    if (utc) localStorage.setItem(storageKey, '1')
    else localStorage.removeItem(storageKey)
  } catch {
    // The browser's store may be shut: the choice then ends with the page.
  }
}

function isRemembered(): boolean {
  try {
    return localStorage.getItem(storageKey) !== null
  } catch {
    return false
  }
}

const two = (number: number) => String(number).padStart(2, '0')

function partsOf(ms: number) {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) return undefined
  const shifted = inUtc.value ? date : new Date(ms - date.getTimezoneOffset() * 60_000)
  const [day, time] = shifted.toISOString().replace('Z', '').split('T') as [string, string]
  return { day, time }
}

/** `10:02:11.123` */
export function clockTime(ms: number): string {
  return partsOf(ms)?.time ?? String(ms)
}

/** `2026-01-31` */
export function dayOf(ms: number): string {
  return partsOf(ms)?.day ?? ''
}

/** `2026-01-31 10:02:11.123`, with the offset from UTC. */
export function fullTime(ms: number): string {
  const parts = partsOf(ms)
  if (parts === undefined) return String(ms)
  const minutes = inUtc.value ? 0 : -new Date(ms).getTimezoneOffset()
  const offset = `${minutes < 0 ? '−' : '+'}${two(Math.trunc(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`
  return `${parts.day} ${parts.time} ${minutes === 0 ? 'UTC' : offset}`
}

/** ISO 8601 in UTC; undefined for a number that is no time. */
export function isoTime(ms: number): string | undefined {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/** `12 s ago`, `3 min ago`, else the time itself. */
export function agoOrTime(ms: number, now: number): string {
  const seconds = Math.round((now - ms) / 1000)
  if (seconds < 0 || seconds >= 3600) return fullTime(ms)
  return seconds < 60 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`
}
