import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { startReceiver } from '../src/index.js'
import { snippetOf } from '../web/logs/snippets.js'

it('the snippet for curl sends its time in the unit of the library: milliseconds', async () => {
  const receiver = await startReceiver({ port: 0, data: ':memory:' })
  onTestFinished(() => receiver.close())
  const { url, project, apiKey } = receiver
  const address = { url, apiKey: String(apiKey), bucket: project }
  const before = Date.now()
  await promisify(execFile)('/bin/sh', ['-c', snippetOf('curl', address)])
  const response = await fetch(`${url}/api/logs/${project}`, { headers: { 'x-api-key': address.apiKey } })
  const { list } = (await response.json()) as { list: { timeStamp: number }[] }
  expect(list).toHaveLength(1)
  // `date` gives whole seconds.
  expect(list[0]!.timeStamp).toBeGreaterThan(before - 1000)
  expect(list[0]!.timeStamp).toBeLessThanOrEqual(Date.now())
})
