import { captureSluice } from 'sluice/testing'
import { SluiceLogRecordExporter } from 'sluice-opentelemetry'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { serviceOf } from '../src/service.js'

afterEach(() => vi.unstubAllEnvs())

const shop = {
  'service.name': 'shop',
  'service.version': '1.2.3',
  'deployment.environment.name': 'staging',
  'host.name': 'host-7',
}

/** The service that the record of an exporter names. */
function exported(options: object = {}) {
  using captured = captureSluice()
  const hrTime = [1_700_000_000, 0] as const
  const about = { hrTime, hrTimeObserved: hrTime, attributes: {}, instrumentationScope: { name: '' } }
  new SluiceLogRecordExporter(options).export([{ ...about, resource: { attributes: shop } }], () => {})
  const { appName, appVersion, env, machineName } = captured.logs[0]!
  return { appName, appVersion, env, machineName }
}

describe('the resource of OpenTelemetry', () => {
  it('gives name, version, environment and host of the service', () => {
    const expected = { appName: 'shop', appVersion: '1.2.3', env: 'staging', machineName: 'host-7' }
    expect(exported()).toEqual(expected)
    vi.stubEnv('DD_SERVICE', 'other')
    vi.stubEnv('NODE_ENV', 'production')
    vi.stubEnv('SLUICE_ENV', ' "" ')
    expect(exported({ appName: undefined })).toEqual(expected)
  })

  it('replaces neither an option nor its variable', () => {
    vi.stubEnv('SLUICE_APP_VERSION', '9')
    vi.stubEnv('SLUICE_ENV', 'by variable')
    expect(exported({ appName: 'by option', machineName: 'by option' })).toEqual({
      appName: 'by option',
      appVersion: '9',
      env: 'by variable',
      machineName: 'by option',
    })
  })

  it('may have the older name of the environment, which the newer one precedes', () => {
    expect(serviceOf({ 'deployment.environment': 'old' })).toEqual({ env: 'old' })
    expect(serviceOf({ ...shop, 'deployment.environment': 'old' }).env).toBe('staging')
  })

  it('is left out where it has no name', () => {
    for (const name of ['unknown_service', 'unknown_service:node', ' ', 7, undefined]) {
      expect(serviceOf({ 'service.name': name })).toEqual({})
    }
    expect(serviceOf({ 'service.name': 'unknown_services' })).toEqual({ appName: 'unknown_services' })
  })
})
