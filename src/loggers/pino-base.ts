import { hostname } from 'node:os'
import { ownText } from '../records/own-text.js'
import type { IsBase } from '../records/pino-line.js'

/**
 * What pino's target knows of its logger's base: pid and hostname are those of this process. The name it has to learn, for pino tells
 * it to nobody: a logger's name stands in every line and is always the same, so that a line without it, or with another, shows that
 * what stands in its place are fields of the application's.
 */
export function learnedBase(): IsBase {
  const host = hostname()
  let name: unknown
  let isField = false
  return (key, value) => {
    if (key === 'pid') return value === process.pid
    if (key === 'hostname') return value === host
    name ??= typeof value === 'string' ? ownText(value) : value
    if (value === undefined || value !== name) isField = true
    return !isField
  }
}

/**
 * The base of a logger in this thread: pid, hostname and name as its root has bound them. pino keeps them under a symbol of its own, as
 * the text with which its lines begin. Undefined where it is not found.
 */
export function baseOf(logger: object): Readonly<Record<string, unknown>> | undefined {
  let bound: unknown
  for (let each: object | null = logger; each !== null; each = Object.getPrototypeOf(each)) {
    const key = Object.getOwnPropertySymbols(each).find(({ description }) => description === 'pino.chindings')
    if (key !== undefined) bound = (each as Record<symbol, unknown>)[key]
  }
  if (typeof bound !== 'string') return undefined
  try {
    const { pid, hostname, name } = JSON.parse(`{${bound.slice(1)}}`)
    return { pid, hostname, name }
  } catch {
    return undefined
  }
}
