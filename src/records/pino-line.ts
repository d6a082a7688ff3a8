import type { MappedPinoLine, PinoHead, PinoMapper } from './from-pino.js'

/** Whether a field at the head of a line is of the logger's base, and not one of the application's that happens to come first. */
export type IsBase = (key: 'pid' | 'hostname' | 'name', value: unknown) => boolean

export interface PinoLineSetting {
  readonly messageKey?: string | undefined
  readonly arrivedAt: number
  /** @default every field in that place is */
  readonly isBase?: IsBase | undefined
}

const anything: IsBase = () => true

/** Map a line as pino has written it. What is not JSON is a message: not everything that writes to a stream of pino's is pino. */
export function mapPinoLine(
  map: PinoMapper,
  line: string,
  { messageKey = 'msg', arrivedAt, isBase = anything }: PinoLineSetting,
): MappedPinoLine {
  const plain = map.plain(line, isBase)
  if (plain !== undefined) return plain
  const value = parsed(line)
  if (typeof value === 'object' && value !== null) {
    const head = headOf(line, isBase)
    return map.parsed(value as Record<string, unknown>, { arrivedAt, ...(head === undefined ? {} : { head }) })
  }
  return map.parsed({ level: 30, [messageKey]: typeof value === 'string' ? value : line }, { arrivedAt })
}

/**
 * What pino writes before the fields of the application: level, time, and the base. A field of the application with the same name comes
 * later in the line, where `JSON.parse` takes it for the value. Undefined for a line that is not pino's.
 */
function headOf(line: string, isBase: IsBase): PinoHead | undefined {
  const [, level, otherKey, otherLevel, time, pid, hostname, writtenName] =
    headPattern.exec(line.slice(0, maxHeadChars)) ?? []
  const hasBase = pid !== undefined || hostname !== undefined
  if (level === undefined && !hasBase) return undefined
  const base = (key: Parameters<IsBase>[0], written: string | undefined) => {
    const value = scalar(written)
    return isBase(key, value) ? value : undefined
  }
  return {
    level: scalar(level ?? otherLevel),
    ...(level === undefined && otherKey !== undefined ? { levelKey: String(scalar(otherKey)) } : {}),
    time: scalar(time),
    pid: base('pid', pid),
    hostname: base('hostname', hostname),
    // Without the rest of the base it is a field of the application's.
    name: hasBase ? base('name', writtenName) : undefined,
  }
}

/** A longer head is none that pino has written; an expression runs out of stack in a text of megabytes. */
const maxHeadChars = 8192

/** Level and time may have been renamed by the logger's formatters; the base follows them all the same. */
const headPattern = (() => {
  const value = String.raw`("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)`
  const otherKey = String.raw`("(?!pid"|hostname")[^"\\]+")`
  const other = String.raw`"(?!pid"|hostname")[^"\\]+":(?:"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)`
  const base = `(?:,"pid":${value})?(?:,"hostname":${value})?(?:,"name":${value})?`
  return new RegExp(String.raw`^\{(?:"level":${value}|${otherKey}:${value})?(?:,"time":${value}|,${other})?${base}`)
})()

function scalar(written: string | undefined): unknown {
  return written === undefined ? undefined : parsed(written)
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
