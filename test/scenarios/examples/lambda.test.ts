import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { FaultServer } from '../../support/fault-server.js'
import { full } from '../../support/full.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

const here = (path: string) => join(import.meta.dirname, path)

/** The example in a runtime that sends itself `signal` when an invocation has been answered. */
function startFunction(variables: Record<string, string> = receiver.variables) {
  const [runtime, example] = ['../../fixtures/lambda-runtime.js', '../../../examples/lambda.js'].map(here)
  const child = spawn(process.execPath, [runtime!, example!], {
    env: { PATH: process.env.PATH, AWS_LAMBDA_FUNCTION_NAME: 'orders', ...variables },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exit = once(child, 'close')
  const stderr = text(child.stderr)
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async invoke(order: object, { id, signal }: { id: string; signal: 'SIGSTOP' | 'SIGKILL' }): Promise<unknown> {
      child.stdin.write(`${JSON.stringify({ order, context: { awsRequestId: id }, signal })}\n`)
      return JSON.parse((await answers.next()).value)
    },
    /** Waits until it is frozen, and lets it go on. */
    async thaw() {
      const state = () => readFileSync(`/proc/${child.pid}/stat`, 'latin1').split(') ')[1]?.[0]
      await vi.waitFor(() => expect(state()).toBe('T'), { interval: 1 })
      child.kill('SIGCONT')
    },
    async end() {
      const [, signal] = await exit
      return { signal, stderr: await stderr }
    },
  }
}

/** Lines of an invocation, by its id. */
const linesOf = async (id: string) =>
  (await receiver.logs()).filter(({ message }) => message.includes(`"awsRequestId":"${id}"`))

// /proc shows that a process has stopped.
describe.runIf(process.platform === 'linux')('the example lambda.js', () => {
  it('has delivered what an invocation logged when it is frozen after the answer, and killed after the last one', async () => {
    const lambda = startFunction()
    for (const invocation of [1, 2, 3]) {
      const id = `r-${invocation}`
      const answer = await lambda.invoke({ orderId: invocation, amount: 10 }, { id, signal: 'SIGSTOP' })
      expect(answer).toEqual({ result: { statusCode: 201 } })
      expect(await linesOf(id)).toMatchObject([{ level: 'info', message: expect.stringMatching(/^order placed/) }])
      expect(await receiver.values()).toHaveLength(invocation)
      await lambda.thaw()
    }
    const refused = await lambda.invoke({ orderId: 4 }, { id: 'r-4', signal: 'SIGKILL' })
    expect(refused).toEqual({ error: 'RangeError: expected an amount, got undefined' })
    expect(await lambda.end()).toEqual({ signal: 'SIGKILL', stderr: '' })
    expect(await linesOf('r-4')).toMatchObject([{ level: 'error', message: expect.stringMatching(/^order refused/) }])
    expect(await receiver.values()).toHaveLength(3)
  })

  it.runIf(full)('answers two seconds later, and as always, when the service does not', async () => {
    const service = await FaultServer.start(() => ({ type: 'silence' }))
    onTestFinished(() => service.close())
    const lambda = startFunction({ SLUICE_URL: service.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b' })
    const startedAt = performance.now()
    const answer = await lambda.invoke({ orderId: 1, amount: 10 }, { id: 'r-1', signal: 'SIGKILL' })
    expect(answer).toEqual({ result: { statusCode: 201 } })
    expect(performance.now() - startedAt).toBeLessThan(2000 + 2900)
  })
})
