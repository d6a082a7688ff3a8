import { describe, expect, it } from 'vitest'
import { targetOptions, withoutPinos } from '../../src/loggers/pino-target.js'

describe('the options of a target of pino', () => {
  it('are separated from those that pino and thread-stream add', () => {
    const added = { levels: {}, dedupe: true, pinoWillSendConfig: true, $context: {}, pinoSomethingNew: 1, PINO_X: 1 }
    expect(withoutPinos({ url: 'u', ...added })).toEqual({ url: 'u' })
  })

  it('are checked if a name is similar to one of them, and reported if it is not', () => {
    expect(targetOptions({ bukcet: 'b', colour: 1, level: 'info', transportId: 7 })).toEqual({
      own: { bukcet: 'b', level: 'info' },
      unknown: ['colour', 'transportId'],
    })
  })
})
