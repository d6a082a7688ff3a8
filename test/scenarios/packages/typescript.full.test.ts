import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Consumer, consumerKinds, node16 } from '../../support/consumer.js'
import { full, rowsOf } from '../../support/full.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

/** The oldest compiler that knows `NoInfer`. `own` is the compiler of this repository. */
const oldest = '5.4'
const between = full ? ['5.8', '5.9', '6.0'] : []
const compilers = [oldest, ...between, 'own']
/** From 5.8 on the compiler knows that Node can `require` an ES module. */
const withoutRequire = [oldest]

const cases = compilers.flatMap((compiler) =>
  Object.entries(consumerKinds)
    .filter(([name]) => !(withoutRequire.includes(compiler) && name === 'nodenext, CommonJS'))
    .map(([name, kind]) => ({ compiler, name, kind })),
)

describe('an application in TypeScript', () => {
  let consumer: Consumer
  let receiver: TestReceiver
  beforeAll(async () => {
    receiver = await startTestReceiver()
    consumer = await Consumer.install([oldest, ...between])
  }, 180_000)
  afterAll(async () => {
    consumer.remove()
    await receiver.close()
  })

  it.each(rowsOf(cases, ({ compiler, name }) => compiler === oldest && name === 'nodenext, ES modules'))(
    'compiles with TypeScript $compiler, $name, and delivers',
    async ({ compiler, kind }) => {
      expect(await consumer.compile(compiler, kind)).toEqual([])
      const before = { logs: (await receiver.logs()).length, values: (await receiver.values()).length }
      const { code, stdout, stderr } = await consumer.run(compiler, kind, receiver.variables)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const expected = { captured: 1, answer: 'not-found', mistaken: 'SLUICE_CONFIG_INVALID', given: [], open: true }
      expect(JSON.parse(stdout)).toEqual(expected)
      const messages = (await receiver.logs()).slice(before.logs).map(({ message }) => message)
      expect(messages.sort()).toEqual([
        'by another stream',
        'by one of several streams',
        'by the stream orderId=7',
        'by the target {"orderId":7}',
        'by winston {"orderId":7}',
        'by winston {"orderId":7}',
      ])
      const events = (await receiver.values()).slice(before.values).map(({ eventId }) => eventId)
      expect(events.sort()).toEqual([1001, 1002, 1003])
    },
    60_000,
  )

  const older = { target: 'es2021', lib: ['es2021'] }
  const olderCases = compilers.flatMap((compiler) => [
    { compiler, resolution: 'node16', compilerOptions: { ...older, module: 'node16' } },
    { compiler, resolution: 'bundler', compilerOptions: { ...older, module: 'esnext', moduleResolution: 'bundler' } },
  ])
  it.each(rowsOf(olderCases, ({ compiler, resolution }) => compiler === 'own' && resolution === 'node16'))(
    'compiles with TypeScript $compiler, $resolution and the library of ES2021, all types of the package included',
    async ({ compiler, compilerOptions }) => {
      expect(await consumer.compile(compiler, { type: 'module', compilerOptions })).toEqual([])
    },
  )

  it.each(compilers)(
    'compiles with TypeScript %s under node16 in CommonJS files when it awaits the import, and delivers',
    async (compiler) => {
      const refused = await consumer.compile(compiler, node16, ['static-import'])
      expect(refused.join('\n')).toContain('error TS1479')
      expect(await consumer.compile(compiler, node16, ['dynamic-import'])).toEqual([])
      const before = (await receiver.values()).length
      const ended = await consumer.run(compiler, node16, receiver.variables, 'dynamic-import')
      expect(ended).toEqual({ code: 0, stdout: '', stderr: '' })
      expect((await receiver.values()).slice(before)).toMatchObject([{ eventId: 1004, appName: 'dynamic' }])
    },
  )
})
