import type { MappedLog } from './encode.js'
import type { WinstonInfo, winstonMapper } from './from-winston.js'
import type { Severity } from './level.js'

const LEVEL = Symbol.for('level')
const MESSAGE = Symbol.for('message')
const SPLAT = Symbol.for('splat')

/** Lines that are compared in full before a format is trusted, and one in how many afterwards. */
const trials = 20
const sampleEvery = 1000

/**
 * Recognises lines for which winston's json format has already written all that there is to ship, so that nothing need be written
 * again. A printf format may write what merely looks like it; so the first lines are read back and compared with what was
 * logged, then one in a thousand, and a format that differs once is never trusted.
 */
export class WrittenLines {
  #compared = 0
  #seen = 0
  #trusted = true

  /** The line, if it says all that `info` does; else undefined. */
  of(info: WinstonInfo): string | undefined {
    const line = info[MESSAGE]
    if (!this.#trusted || typeof line !== 'string' || !looksWhole(line) || !isFlat(info)) return undefined
    if (this.#compared < trials || ++this.#seen % sampleEvery === 0) {
      this.#compared++
      this.#trusted = saysAll(line, info)
      if (!this.#trusted) return undefined
    }
    return line
  }
}

/** Map a line that {@link WrittenLines} has recognised. */
export function mapWinstonLine(
  map: ReturnType<typeof winstonMapper>,
  line: string,
  { level, severity, arrivedAt }: { level: string; severity: Severity; arrivedAt: number },
): MappedLog {
  const info = { ...(JSON.parse(line) as Record<string, unknown>), [LEVEL]: level }
  return { fields: map(info, { arrivedAt }).fields, severity }
}

function looksWhole(line: string): boolean {
  return line.charCodeAt(0) === openBrace && line.charCodeAt(line.length - 1) === closeBrace && !line.includes('\n')
}

/** Whether JSON loses nothing of it: no objects (errors among them), no numbers that it does not know. */
function isFlat(info: WinstonInfo): boolean {
  if (info instanceof Error) return false
  for (const key in info) {
    const value = info[key]
    switch (typeof value) {
      case 'string':
      case 'boolean':
        break
      case 'number':
        if (!Number.isFinite(value)) return false
        break
      default:
        if (value !== null) return false
    }
  }
  // Besides one object of fields, which winston has laid among the others, there may be something that is not in the line.
  const splat = info[SPLAT]
  return !Array.isArray(splat) || splat.length === 0 || (splat.length === 1 && isFields(splat[0]))
}

function isFields(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof Error)
}

function saysAll(line: string, info: WinstonInfo): boolean {
  try {
    const written = JSON.parse(line) as Record<string, unknown>
    const keys = Object.keys(info)
    return keys.length === Object.keys(written).length && keys.every((key) => Object.is(written[key], info[key]))
  } catch {
    return false
  }
}

const openBrace = '{'.charCodeAt(0)
const closeBrace = '}'.charCodeAt(0)
