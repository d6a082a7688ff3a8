import { expect, it, onTestFinished } from 'vitest'
import { caller, log, startReceiverForTest } from './support.js'

it('an unknown bucket gets the nearest one, as far as the key may see', async () => {
  const { url, call, close } = await startReceiverForTest()
  onTestFinished(close)
  for (const id of ['checkout', 'billing']) await call('POST', '/api/projects', { id })
  const madeFor = async (key: object) => caller({ url, apiKey: (await call('POST', '/api/keys', key)).body.key })
  const [ingest, bound] = [await madeFor({ scopes: ['ingest'] }), await madeFor({ projects: ['demo'] })]
  const words = async (ask: typeof call, bucket: string) =>
    (await ask('POST', `/logs/${bucket}`, log)).body.errors[0].message

  expect(await words(call, 'chekcout')).toBe('there is no bucket chekcout; did you mean checkout?')
  expect((await call('GET', '/api/logs/biling')).body.errors[0].message).toBe(
    'there is no bucket biling; did you mean billing?',
  )
  expect((await call('GET', '/ng-cms/content-types/dmo')).body.errors[0].message).toContain(
    'project dmo; did you mean demo?',
  )
  expect((await call('POST', '/api/keys', { projects: ['biling'] })).body.errors[0].message).toContain(
    'did you mean billing?',
  )
  expect(await words(call, 'warehouse')).toBe('there is no bucket warehouse')
  expect(await words(ingest, 'chekcout')).toContain('did you mean checkout?')
  expect(await words(bound, 'chekcout')).toBe('the API key does not hold for project chekcout; it holds for demo')
})
