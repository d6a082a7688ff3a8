import { EventEmitter, once } from 'node:events'
import { withContext } from 'sluice'
import { captureSluice } from 'sluice/testing'
import { SluiceTransport } from 'sluice/winston'
import { describe, expect, it } from 'vitest'
import winston from 'winston'
import TransportStream from 'winston-transport'

/** A transport that takes its next line in a later turn of the event loop, and tells when it has taken the last one. */
class Slow extends TransportStream {
  readonly taken = new EventEmitter()

  override log({ message }: { message: string }, done: () => void): void {
    setImmediate(() => {
      done()
      this.taken.emit(message)
    })
  }
}

async function messagesBesideSlow(settings: winston.LoggerOptions, format?: winston.Logform.Format): Promise<string[]> {
  using captured = captureSluice()
  const slow = new Slow()
  const sluice = new SluiceTransport(format === undefined ? {} : { format })
  const logger = winston.createLogger({ ...settings, transports: [slow, sluice] })
  const done = once(slow.taken, 'order 99')
  for (let id = 0; id < 100; id++) {
    if (id % 2 === 0) withContext({ requestId: `r-${id}` }, () => logger.info(`order ${id}`))
    else logger.info(`order ${id}`)
  }
  await done
  return captured.logs.map(({ message }) => message)
}

const { format } = winston
const right = Array.from({ length: 100 }, (_, id) =>
  id % 2 === 0 ? `order ${id} {"requestId":"r-${id}"}` : `order ${id}`,
)

describe('lines that winston keeps back for a slow transport', () => {
  it.each<[string, winston.LoggerOptions, winston.Logform.Format?]>([
    ['its json', {}],
    ['another format', { format: format.simple() }],
    ['a format of the transport', {}, format.json()],
  ])('have the context in which they were logged, with %s', async (_, settings, own) => {
    expect(await messagesBesideSlow(settings, own)).toEqual(right)
  })

  it('have no context rather than a wrong one where a format has made new objects of them', async () => {
    const copying = format.combine(format((info) => ({ ...info }))(), format.json())
    const messages = await messagesBesideSlow({ format: copying })
    expect(messages.map((message) => message.split(' {')[0])).toEqual(right.map((message) => message.split(' {')[0]))
    const wrong = messages.filter((message, id) => message.includes('requestId') && message !== right[id])
    expect(wrong).toEqual([])
  })
})

describe('the info of winston', () => {
  it('is not changed by a context', () => {
    using captured = captureSluice()
    const infos: object[] = []
    const logger = winston.createLogger({ transports: [new SluiceTransport()] })
    logger.on('data', (info) => void infos.push(info))
    withContext({ requestId: 'r-1' }, () => logger.info('order', { orderId: 7 }))
    expect(infos.map((info) => Object.keys(info).sort())).toEqual([['level', 'message', 'orderId']])
    expect(captured.logs.map(({ message }) => message)).toEqual(['order {"orderId":7,"requestId":"r-1"}'])
  })
})

describe('a transport without a logger', () => {
  it('adds the context of its caller', () => {
    using captured = captureSluice()
    const transport = new SluiceTransport()
    withContext({ requestId: 'r-1' }, () => transport.write({ level: 'info', message: 'alone' }))
    expect(captured.logs.map(({ message }) => message)).toEqual(['alone {"requestId":"r-1"}'])
  })
})
