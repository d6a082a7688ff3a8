import { describe, expect, it } from 'vitest'
import type { SluiceOptions } from '../../src/options/options.js'
import { resolve } from '../../src/options/resolve.js'
import { withResource } from '../../src/options/resource.js'

const destination = { url: 'https://api.example', apiKey: 'k', bucket: 'b' }
const shop = {
  'service.name': 'shop',
  'service.version': '1.2.3',
  'deployment.environment.name': 'staging',
  'host.name': 'host-7',
}

function identity(
  attributes: Record<string, unknown>,
  { user = {}, environment = {} }: { user?: SluiceOptions; environment?: Record<string, string> } = {},
) {
  const resolution = resolve({ ...destination, ...user }, { environment, needs: 'logs' })
  const { appName, appVersion, env, machineName } = withResource(resolution, attributes).options
  return { appName, appVersion, env, machineName }
}

describe('the resource of OpenTelemetry', () => {
  it('gives name, version, environment and host of the service', () => {
    const expected = { appName: 'shop', appVersion: '1.2.3', env: 'staging', machineName: 'host-7' }
    expect(identity(shop)).toEqual(expected)
    expect(identity(shop, { environment: { DD_SERVICE: 'other', NODE_ENV: 'production' } })).toEqual(expected)
  })

  it('replaces neither an option nor its variable', () => {
    const user = { appName: 'by option', machineName: 'by option' }
    const environment = { SLUICE_APP_VERSION: '9', SLUICE_ENV: 'by variable' }
    expect(identity(shop, { user, environment })).toEqual({
      appName: 'by option',
      appVersion: '9',
      env: 'by variable',
      machineName: 'by option',
    })
  })

  it('may have the older name of the environment, which the newer one precedes', () => {
    expect(identity({ 'deployment.environment': 'old' }).env).toBe('old')
    expect(identity({ ...shop, 'deployment.environment': 'old' }).env).toBe('staging')
  })

  it('is left out where it has no name', () => {
    const environment = { DD_SERVICE: 'known' }
    for (const name of ['unknown_service', 'unknown_service:node', ' ', 7, undefined]) {
      expect(identity({ 'service.name': name }, { environment }).appName).toBe('known')
    }
    expect(identity({ 'service.name': 'unknown_services' }, { environment }).appName).toBe('unknown_services')
  })
})
