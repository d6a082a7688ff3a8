import { track } from 'sluice'
import { health, prometheusText } from 'sluice/metrics'
import { expect, it, vi } from 'vitest'

it('while Sluice is off for a wrong variable, health and sluice_health are failing, since the same moment', async () => {
  vi.stubEnv('SLUICE_URL', 'ftp://logs.example')
  track(1)
  vi.unstubAllEnvs()
  const { status, since, reason } = health()
  expect({ status, reason }).toEqual({ status: 'failing', reason: expect.stringContaining('SLUICE_URL') })
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(since)))
  expect(prometheusText()).toContain('sluice_health{status="failing"} 1')
  expect(health().since).toBe(since)
})
