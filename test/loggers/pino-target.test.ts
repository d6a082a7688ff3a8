import { describe, expect, it } from 'vitest'
import { targetOptions } from '../../src/loggers/pino-target.js'

describe('the options of a target of pino', () => {
  it('are parted from all that pino and thread-stream put beside them', () => {
    const added = { levels: {}, dedupe: true, pinoWillSendConfig: true, $context: {}, pinoSomethingNew: 1, PINO_X: 1 }
    expect(targetOptions({ url: 'u', ...added })).toEqual({ own: { url: 'u' }, unknown: [] })
  })

  it('are checked where a name looks like one of them, and told where it looks like none', () => {
    expect(targetOptions({ bukcet: 'b', colour: 1, level: 'info', transportId: 7 })).toEqual({
      own: { bukcet: 'b', level: 'info' },
      unknown: ['colour', 'transportId'],
    })
  })
})
