import { expect, it } from 'vitest'
import { loneOption } from '../../src/options/resolve.js'

it.each([
  [{}, 5000],
  [{ SLUICE_SHUTDOWN_TIMEOUT_MS: ' "1000" ' }, 1000],
  [{ SLUICE_SHUTDOWN_TIMEOUT_MS: '0' }, 0],
  [{ SLUICE_SHUTDOWN_TIMEOUT_MS: 'soon' }, 5000],
  [{ SLUICE_SHUTDOWN_TIMEOUT_MS: '9000' }, 5000],
])('with %j the end of the process may take %i ms', (environment, expected) => {
  expect(loneOption('shutdownTimeoutMs', environment)).toBe(expected)
})

it.each([
  [{}, true],
  [{ SLUICE_HANDLE_SIGNALS: 'Off' }, false],
  [{ SLUICE_HANDLE_SIGNALS: "'false'" }, false],
  [{ SLUICE_HANDLE_SIGNALS: 'perhaps' }, true],
])('with %j signals are handled: %s', (environment, expected) => {
  expect(loneOption('handleSignals', environment)).toBe(expected)
})
