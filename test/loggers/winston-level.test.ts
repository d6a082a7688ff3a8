import { setLevel } from 'sluice'
import { captureSluice } from 'sluice/testing'
import { SluiceTransport } from 'sluice/winston'
import { afterEach, describe, expect, it, vi } from 'vitest'
import winston from 'winston'

afterEach(() => {
  setLevel(undefined)
  vi.unstubAllEnvs()
})

const levels = Object.keys(winston.config.npm.levels)
const wanted = [...levels, 'trace', 'fatal', 'DEBUG', 'silent']

interface Setting {
  /** The option `level` of the transport. */
  readonly own?: string
  /** The variable `SLUICE_LEVEL`. */
  readonly variable?: string
  /** The level of the logger. */
  readonly logger?: string
}

function loggerOf({ own, variable, logger }: Setting) {
  vi.stubEnv('SLUICE_LEVEL', variable)
  const transport = new SluiceTransport(own === undefined ? {} : { level: own })
  return { transport, logger: winston.createLogger({ level: logger ?? 'info', transports: [transport] }) }
}

/** Levels of the lines that are shipped, of one line for each level. */
function shipped(logger: winston.Logger): string[] {
  using captured = captureSluice()
  for (const level of levels) logger.log(level, 'x')
  return captured.logs.map(({ level }) => level)
}

describe('the level silent', () => {
  it.each([
    ['the option', { own: 'silent' }],
    ['the variable', { variable: 'silent' }],
  ])('ships no line as %s of a transport whose logger has no level of that name', (_, setting: Setting) => {
    expect(shipped(loggerOf({ ...setting, logger: 'silly' }).logger)).toEqual([])
  })

  it('ships no line by setLevel, until another level comes', () => {
    const { logger } = loggerOf({ own: 'warn' })
    setLevel('silent')
    expect(shipped(logger)).toEqual([])
    setLevel('info')
    expect(shipped(logger)).toEqual(['error', 'warn', 'info'])
  })
})

describe('setLevel and the transport of winston', () => {
  it.each(levels)('ship, with a logger of level %s, what a transport ships that was made with that level', (logger) => {
    for (const level of wanted) {
      const byOption = loggerOf({ own: 'warn', logger })
      const byVariable = loggerOf({ variable: 'warn', logger })
      const byDefault = loggerOf({ logger })
      setLevel(level)
      const [first, second, third] = [byOption, byVariable, byDefault].map((each) => shipped(each.logger))
      const enabled = levels.filter((each) => byOption.logger.isLevelEnabled(each))
      setLevel(undefined)
      const made = loggerOf({ own: level, logger })
      expect({ level, first, enabled }).toEqual({
        level,
        first: shipped(made.logger),
        enabled: levels.filter((each) => made.logger.isLevelEnabled(each)),
      })
      const variable = shipped(loggerOf({ variable: level, logger }).logger)
      expect({ level, second, third }).toEqual({ level, second: variable, third: variable })
    }
  })

  it('send nothing at silent', () => {
    expect(shipped(loggerOf({ own: 'silent' }).logger)).toEqual([])
    expect(shipped(loggerOf({ variable: 'silent' }).logger)).toEqual([])
    setLevel('silent')
    expect(shipped(loggerOf({}).logger)).toEqual([])
  })

  it('go back to the level of the option, and to what the application has set since', () => {
    const { transport, logger } = loggerOf({ own: 'warn' })
    setLevel('debug')
    expect(shipped(logger)).toEqual(['error', 'warn', 'info', 'http', 'verbose', 'debug'])
    setLevel(undefined)
    expect(shipped(logger)).toEqual(['error', 'warn'])
    transport.level = 'verbose'
    expect(shipped(logger)).toEqual(['error', 'warn', 'info', 'http', 'verbose'])
    setLevel('error')
    transport.level = 'http'
    expect([transport.level, ...shipped(logger)]).toEqual(['error', 'error'])
    setLevel(undefined)
    expect([transport.level, ...shipped(logger)]).toEqual(['http', 'error', 'warn', 'info', 'http'])
  })

  it('stay at the option under a level that the logger does not know, until one comes that it knows', () => {
    const { logger } = loggerOf({ own: 'warn' })
    const other = loggerOf({ variable: 'error' })
    setLevel('loud')
    expect(shipped(logger)).toEqual(['error', 'warn'])
    expect(logger.isLevelEnabled('info')).toBe(false)
    expect(shipped(other.logger)).toEqual(['error'])
    setLevel('info')
    expect(shipped(logger)).toEqual(['error', 'warn', 'info'])
  })

  it('know the levels of a logger with levels of its own', () => {
    const transport = new SluiceTransport({ level: 'boom' })
    const logger = winston.createLogger({
      levels: { boom: 0, audit: 1, chat: 2 },
      level: 'audit',
      transports: [transport],
    })
    const lines = () => {
      using captured = captureSluice()
      for (const level of ['boom', 'audit', 'chat']) logger.log(level, 'x')
      return captured.logs.map(({ level }) => level)
    }
    expect(lines()).toEqual(['boom'])
    setLevel('chat')
    expect(lines()).toEqual(['boom', 'audit', 'chat'])
  })
})
