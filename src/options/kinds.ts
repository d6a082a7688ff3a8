import { resolve } from 'node:path'
import { textOf } from '../errors/text-of.js'
import { isPathSegment } from '../records/wire.js'
import { ownFields } from '../runtime/own-fields.js'
import type { Kind } from './option.js'
import { isSecretText, redacted, Secret } from './secret.js'

function textual<Text extends string>(expected: string, isValid: (text: string) => boolean): Kind<Text> {
  const read = (text: string) => (isValid(text) ? (text as Text) : undefined)
  return { expected, read, check: (value) => (typeof value === 'string' ? read(value) : undefined) }
}

export const text = textual('a text', () => true)

/** Name of a bucket: one segment of a path. */
export const name = textual('a name that can stand in a URL: visible characters, not "." or ".."', isPathSegment)

export function choice<const Choice extends string>(...values: readonly Choice[]): Kind<Choice> {
  const isOne = (text: string) => (values as readonly string[]).includes(text)
  return textual(values.map((value) => `"${value}"`).join(' or '), isOne)
}

/** A path. It becomes absolute, and so stays the same when the application changes its working directory, and in every thread. */
export const path: Kind<string> = {
  ...text,
  check: (value) => (typeof value === 'string' ? absolutePath(value) : undefined),
  read: absolutePath,
}

function absolutePath(path: string): string {
  try {
    return resolve(path)
  } catch {
    // The working directory is gone: opening the path will fail with the reason.
    return path
  }
}

/** A key or a token. */
export const secret: Kind<string, Secret> = {
  expected: 'a text of visible ASCII characters',
  check: (value) => (typeof value === 'string' ? secret.read(value) : undefined),
  read: (text, file) =>
    isSecretText(text) ? new Secret(text, file === undefined ? undefined : absolutePath(file)) : undefined,
  show: () => redacted,
}

/** A base URL, without slashes at its end. */
export const url: Kind<string> = {
  expected: 'an http: or https: URL without credentials and query',
  check: (value) => (typeof value === 'string' ? url.read(value) : undefined),
  read: (text) => (isBaseUrl(text) ? withoutEndSlashes(text) : undefined),
  // A URL may hold a password by mistake. A text without a scheme may be the key.
  show(value) {
    const text = textOf(value)
    if (!/^\s*[a-z]+:[\\/]{2}/i.test(text)) return redacted
    return text
      .replace(/^\s*([a-z]+:[\\/]*).*@/is, (_, scheme) => `${scheme}${redacted}@`)
      .replace(/[?#].*$/s, (rest) => `${rest[0]}${redacted}`)
  },
  remedy(value) {
    const text = textOf(value).trim()
    if (/^\w+:\/\//.test(text)) return undefined
    // Text that may be the key is not repeated.
    if (!bareAddress.test(text) || !URL.canParse(`http://${text}`)) return 'a URL begins with http:// or https://'
    const plain = `http://${text}`
    return isLoopback(new URL(plain).hostname) ? `write ${plain}` : `write https://${text}, or ${plain}`
  },
}

/** A host with a port, an IPv4 address or localhost, without a scheme; a path may follow. */
const bareAddress =
  /^((?:[\w.-]+|\[[\da-f:.]+\]):\d{1,5}|localhost|\[[\da-f:.]+\]|\d{1,3}(?:\.\d{1,3}){3})(?:\/[\w./-]*)?$/i

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

function isBaseUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text) || /[?#]/.test(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

function withoutEndSlashes(url: string): string {
  let end = url.length
  while (url[end - 1] === '/') end--
  return url.slice(0, end)
}

const yes = ['true', '1', 'yes', 'on']
const no = ['false', '0', 'no', 'off']

export const flag: Kind<boolean> = {
  expected: 'true or false',
  check: (value) => (typeof value === 'boolean' ? value : undefined),
  read(text) {
    const word = text.toLowerCase()
    return yes.includes(word) || (no.includes(word) ? false : undefined)
  },
}

/** A whole number. */
export function whole(min: number, max: number): Kind<number> {
  const check = (value: unknown) => (isWhole(value, min, max) ? value : undefined)
  const read = (text: string) => (/^[+-]?\d+$/.test(text) ? check(Number(text)) : undefined)
  return { expected: `a whole number from ${min} to ${max}`, check, read }
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max
}

/** A function of the application. */
export function callback<Callback extends (...all: never[]) => unknown>(): Kind<Callback> {
  return {
    expected: 'a function',
    check: (value) => (typeof value === 'function' ? (value as Callback) : undefined),
    read: () => undefined,
  }
}

const minWindowMs = 100
const maxWindowMs = 3_600_000
const unitsMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** The option `keepForError`. */
export interface KeepForErrorOption {
  /** Most lines that are kept for an error. 1 to 100000. */
  readonly lines: number
  /** Longest time in milliseconds that a line is kept. 100 to 3600000. */
  readonly windowMs: number
}

const maxLines = 100_000
const lineWindowText = `a text such as 200/30s: a number of lines from 1 to ${maxLines}, / and a time from 100ms to 1h, in ms, s, m or h`

/** A number of lines and a time: an object, or a text such as `200/30s`. */
export const lineWindow: Kind<KeepForErrorOption | string, KeepForErrorOption> = {
  expected: `an object with lines (a whole number from 1 to ${maxLines}) and windowMs (whole milliseconds from ${minWindowMs} to ${maxWindowMs}), or ${lineWindowText}`,
  expectedText: lineWindowText,
  check(value) {
    if (typeof value === 'string') return lineWindow.read(value)
    return typeof value === 'object' && value !== null ? windowOf(value) : undefined
  },
  read(text) {
    const [, lines, time, unit] = /^(\d{1,9})\/(\d{1,9})(ms|s|m|h)$/.exec(text) ?? []
    if (unit === undefined) return undefined
    return windowOf({ lines: Number(lines), windowMs: Number(time) * unitsMs[unit as keyof typeof unitsMs] })
  },
}

function windowOf(value: object): KeepForErrorOption | undefined {
  const { lines, windowMs, ...unknown } = ownFields(value as Record<string, unknown>)
  if (Object.keys(unknown).length > 0) return undefined
  if (!isWhole(lines, 1, maxLines) || !isWhole(windowMs, minWindowMs, maxWindowMs)) return undefined
  return { lines, windowMs } as KeepForErrorOption
}

/** Shares of lines by the name of a level in lower case. */
export type LevelShares = Readonly<Record<string, number>>

const maxLevels = 100
const maxLevelChars = 60
const shareBounds = `1 to ${maxLevels} levels, each once, with names of 1 to ${maxLevelChars} characters and shares from 0 to 1`

/** Shares by level: an object, or a text such as `debug:0.01,info:0.25`. Names become lower case. */
export const levelShares: Kind<LevelShares> = {
  expected: `an object such as { debug: 0.01, info: 0.25 }: ${shareBounds}`,
  expectedText: `a text such as debug:0.01,info:0.25: ${shareBounds}`,
  check(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return sharesOf(Object.entries(value))
  },
  read: (text) =>
    sharesOf(
      text.split(',').map((part) => {
        const colon = part.lastIndexOf(':')
        const share = part.slice(colon + 1).trim()
        return [part.slice(0, Math.max(0, colon)).trim(), /^(\d+|\d*\.\d+)$/.test(share) ? Number(share) : undefined]
      }),
    ),
}

function sharesOf(entries: readonly (readonly [name: string, share: unknown])[]): LevelShares | undefined {
  if (entries.length === 0 || entries.length > maxLevels) return undefined
  const shares = new Map<string, number>()
  for (const [name, share] of entries) {
    const isShare = typeof share === 'number' && share >= 0 && share <= 1
    if (name === '' || name.length > maxLevelChars || !isShare) return undefined
    shares.set(name.toLowerCase(), share)
  }
  return shares.size === entries.length ? Object.fromEntries(shares) : undefined
}
