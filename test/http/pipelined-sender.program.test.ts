import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../support/fault-server.js'
import { runProgram } from '../support/programs.js'

describe('the pipelined sender over TLS', () => {
  it('trusts the authorities of NODE_EXTRA_CA_CERTS, and its idle connection does not hold the process', async () => {
    const server = await FaultServer.start(undefined, { certificate: 'foreign' })
    onTestFinished(() => server.close())
    const certificates = join(import.meta.dirname, '../support/certificates/foreign.pem')
    const trusting = await runProgram('pipelined-idle.js', { URL: server.url, NODE_EXTRA_CA_CERTS: certificates })
    expect(trusting).toMatchObject({ code: 0, stdout: 'delivered\n', stderr: '' })
    const wary = await runProgram('pipelined-idle.js', { URL: server.url })
    expect(wary).toMatchObject({ code: 0, stdout: expect.stringContaining('self-signed') })
  })
})
