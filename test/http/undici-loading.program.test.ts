import { expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../support/fault-server.js'
import { startProgram } from '../support/programs.js'

it('undici that could not be read for want of a file descriptor is read when there is one', async () => {
  const server = await FaultServer.start()
  onTestFinished(() => server.close())
  const running = startProgram('undici-without-descriptors.js', {
    before: 'ulimit -n 60',
    variables: { URL: server.url },
  })
  expect(await running.ended).toMatchObject({ code: 0, stdout: 'EMFILE\n201\n', stderr: '' })
})
