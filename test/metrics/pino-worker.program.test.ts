import { expect, it } from 'vitest'
import { runProgram } from '../support/programs.js'
import { samplesByName } from '../support/prometheus-text.js'
import { startTestReceiver } from '../support/receiver.js'

it("the figures and the health cover pino's workers", async () => {
  const receiver = await startTestReceiver()
  const { stdout, stderr } = await runProgram('metrics-of-pino.js', {
    ...receiver.variables,
    SLUICE_MAX_QUEUE_RECORDS: '3000',
  })
  await receiver.close()
  expect(stderr).toBe('')
  const { text, health } = JSON.parse(stdout) as { text: string; health: { status: string; lanes: object[] } }
  const samples = samplesByName(text)
  expect(samples.get('sluice_records_delivered_total logs demo')).toBe(20)
  expect(samples.get('sluice_queue_capacity_records')).toBe(3000)
  expect(samples.get('sluice_lane_state logs demo open')).toBe(1)
  expect(health).toMatchObject({ status: 'ok', lanes: [{ kind: 'logs', bucket: 'demo', status: 'ok', state: 'open' }] })
})
