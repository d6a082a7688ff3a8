import { setImmediate as turn } from 'node:timers/promises'
import { currentContext, withContext } from 'sluice'
import { captureSluice } from 'sluice/testing'
import { describe, expect, it, vi } from 'vitest'
import { messagesOfAll, outputs } from '../support/context-loggers.js'

describe('currentContext', () => {
  it('is empty outside of every context', () => {
    expect(currentContext()).toEqual({})
  })

  it('has the fields of the outer context and of the inner one, which wins', () => {
    const inner = withContext({ requestId: 'r-1', user: 'ann' }, () =>
      withContext({ user: 'bob', job: 7, requestId: undefined }, currentContext),
    )
    expect(inner).toEqual({ requestId: 'r-1', user: 'bob', job: 7 })
    expect(currentContext()).toEqual({})
  })

  it('stays with everything that the function awaits, and never reaches another task', async () => {
    const seen = await Promise.all(
      ['r-1', 'r-2', 'r-3'].map((requestId) =>
        withContext({ requestId }, async () => {
          await turn()
          await Promise.resolve()
          return currentContext().requestId
        }),
      ),
    )
    expect(seen).toEqual(['r-1', 'r-2', 'r-3'])
  })

  it('does not follow later changes of the object, and cannot be changed', () => {
    const fields = { requestId: 'r-1' }
    withContext(fields, () => {
      fields.requestId = 'changed'
      expect(currentContext()).toEqual({ requestId: 'r-1' })
      expect(Object.isFrozen(currentContext())).toBe(true)
    })
  })

  it('is the same in a second copy of the package', async () => {
    vi.resetModules()
    const other = await import('../../src/context/context.js')
    expect(other.withContext).not.toBe(withContext)
    expect(withContext({ requestId: 'r-1' }, () => other.currentContext())).toEqual({ requestId: 'r-1' })
  })
})

/** An interface has no index signature. */
interface RequestFields {
  readonly requestId: string
  readonly user?: { readonly id: number }
}

class JobFields {
  readonly job = 7
}

describe('withContext', () => {
  it('takes fields of any type of the application', () => {
    const fields: RequestFields = { requestId: 'r-1' }
    expect(withContext(fields, currentContext)).toEqual({ requestId: 'r-1' })
    expect(withContext(new JobFields(), currentContext)).toEqual({ job: 7 })
    // @ts-expect-error a text has no fields
    expect(() => withContext('r-1', () => {})).toThrow(TypeError)
  })

  it('returns and throws what its function does', () => {
    expect(withContext({}, () => 7)).toBe(7)
    expect(() =>
      withContext({}, () => {
        throw new Error('out of stock')
      }),
    ).toThrow('out of stock')
  })

  it('names the argument that is wrong', () => {
    const loose = withContext as (...all: unknown[]) => unknown
    expect(() => loose('r-1', () => {})).toThrow(new TypeError('withContext: fields must be an object, got "r-1"'))
    expect(() => loose([], () => {})).toThrow(new TypeError('withContext: fields must be an object, got an array'))
    expect(() => loose({})).toThrow(new TypeError('withContext: run must be a function, got undefined'))
  })
})

describe.each(outputs)('a line of %s', (_, loggerOf) => {
  const messagesOf = (task: Parameters<typeof messagesOfAll>[1]) => messagesOfAll(loggerOf, task)

  it('has the fields of the context', () => {
    const messages = messagesOf((logger) => {
      logger.info({ orderId: 7 }, 'before')
      withContext({ requestId: 'r-1', user: { id: 'u-7' } }, () => {
        logger.info({ orderId: 7 }, 'within')
        logger.info({}, 'alone')
      })
    })
    const [before, within, alone] = messages
    expect(before).toBe('before {"orderId":7}')
    expect(fieldsOf(within)).toEqual({ orderId: 7, requestId: 'r-1', user: { id: 'u-7' } })
    expect(fieldsOf(alone)).toEqual({ requestId: 'r-1', user: { id: 'u-7' } })
  })

  it('has its own value of a field, once', () => {
    const messages = messagesOf((logger) =>
      withContext({ requestId: 'context', part: 'context' }, () => {
        logger.info({ requestId: 'line' }, 'own')
        logger.child({ requestId: 'child' }).info({}, 'child')
        logger.child({ requestId: 'child' }).info({ inner: { part: 'inner' } }, 'inner')
      }),
    )
    expect(messages.map(fieldsOf)).toEqual([
      { requestId: 'line', part: 'context' },
      { requestId: 'child', part: 'context' },
      { requestId: 'child', part: 'context', inner: { part: 'inner' } },
    ])
    expect(messages.every((message) => message.split('"requestId"').length === 2)).toBe(true)
  })

  it('has what was in the context when the context began', () => {
    const user = { name: 'Ann' }
    const messages = messagesOf((logger) =>
      withContext({ user }, () => {
        user.name = 'Bob'
        logger.info({}, 'later')
      }),
    )
    expect(messages).toEqual(['later {"user":{"name":"Ann"}}'])
  })

  it('survives values that have no JSON', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const fields = Object.defineProperty({ cycle, big: 7n, nan: Number.NaN, __proto__: null }, 'throws', {
      enumerable: true,
      get: () => {
        throw new Error('no')
      },
    })
    const messages = messagesOf((logger) => withContext(fields, () => logger.info({}, 'odd')))
    expect(messages.map(fieldsOf)).toEqual([
      { cycle: { self: '[circular]' }, big: '7', nan: 'NaN', throws: '[unreadable: no]' },
    ])
  })

  it('keeps its own level, time and message', () => {
    const fields = {
      level: 'fatal',
      time: 0,
      timestamp: 0,
      msg: 'other',
      message: 'other',
      pid: 0,
      hostname: 'h',
      stack: 's',
    }
    using captured = captureSluice()
    withContext(fields, () => loggerOf().info({}, 'mine'))
    expect(captured.logs).toMatchObject([{ level: 'info', message: 'mine' }])
    expect(captured.logs[0]!.timeStamp).toBeGreaterThan(1e12)
  })
})

function fieldsOf(message = ''): unknown {
  return JSON.parse(message.slice(message.indexOf('{')))
}
