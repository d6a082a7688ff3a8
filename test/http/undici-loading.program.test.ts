import { describe, expect, it, onTestFinished } from 'vitest'
import { delivered, type Fault, FaultServer } from '../support/fault-server.js'
import { runProgram, startProgram } from '../support/programs.js'

async function serverThat(script: (number: number) => Fault): Promise<FaultServer> {
  const server = await FaultServer.start(({ number }) => script(number))
  onTestFinished(() => server.close())
  return server
}

describe('undici', () => {
  it('that could not be read for want of a file descriptor is read when there is one', async () => {
    const server = await serverThat(() => delivered)
    const running = startProgram('undici-without-descriptors.js', {
      before: 'ulimit -n 60',
      variables: { URL: server.url },
    })
    expect(await running.ended).toMatchObject({ code: 0, stdout: 'EMFILE\n201\n', stderr: '' })
  })

  it('is not loaded in an outage: probes need it no more than other requests', async () => {
    const server = await serverThat((number) => (number < 3 ? { type: 'answer', status: 503 } : delivered))
    expect((await runProgram('outage.js', { URL: server.url })).stdout).toBe('1 4 without undici\n')
  })

  it('is loaded where pipelining is off', async () => {
    const server = await serverThat(() => delivered)
    expect((await runProgram('outage.js', { URL: server.url, PIPELINING: 'off' })).stdout).toBe('1 1 undici\n')
  })
})
