import type { MappedLog } from './encode.js'
import type { PinoHead, pinoMapper } from './from-pino.js'

/** Map a line as pino has written it. What is not JSON is a message: not everything that writes to a stream of pino's is pino. */
export function mapPinoLine(
  map: ReturnType<typeof pinoMapper>,
  line: string,
  { messageKey = 'msg', arrivedAt }: { messageKey?: string | undefined; arrivedAt: number },
): MappedLog {
  const value = parsed(line)
  if (typeof value === 'object' && value !== null) {
    const head = headOf(line)
    return map(value as Record<string, unknown>, { arrivedAt, ...(head === undefined ? {} : { head }) })
  }
  return map({ level: 30, [messageKey]: typeof value === 'string' ? value : line }, { arrivedAt })
}

/**
 * What pino writes before the fields of the application: level, time, and the base. A field of the application with the same name comes
 * later in the line, where `JSON.parse` takes it for the value. Undefined for a line that is not pino's.
 */
function headOf(line: string): PinoHead | undefined {
  const [, level, time, pid, hostname, name] = headPattern.exec(line) ?? []
  const hasBase = pid !== undefined || hostname !== undefined
  if (level === undefined && !hasBase) return undefined
  return {
    level: scalar(level),
    time: scalar(time),
    pid: scalar(pid),
    hostname: scalar(hostname),
    // Without the rest of the base it is a field of the application's.
    name: hasBase ? scalar(name) : undefined,
  }
}

/** Level and time may have been renamed by the logger's formatters; the base follows them all the same. */
const headPattern = (() => {
  const value = String.raw`("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)`
  const other = String.raw`"(?!pid"|hostname")[^"\\]+":(?:"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)`
  const base = `(?:,"pid":${value})?(?:,"hostname":${value})?(?:,"name":${value})?`
  return new RegExp(String.raw`^\{(?:"level":${value}|${other})?(?:,"time":${value}|,${other})?${base}`)
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
