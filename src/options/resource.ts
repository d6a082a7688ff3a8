import { optionTable } from './defaults.js'
import type { Resolution } from './resolve.js'

/** The attributes of OpenTelemetry's resource for an option, the first one first. */
const attributesByOption = {
  appName: ['service.name'],
  appVersion: ['service.version'],
  env: ['deployment.environment.name', 'deployment.environment'],
  machineName: ['host.name'],
} as const

/** OpenTelemetry's SDK gives this name, with the program behind it, to a service without a name. */
const unknownService = /^unknown_service(:|$)/

/**
 * The configuration of a service that OpenTelemetry's resource describes. An attribute stands in the place of a default, and of other
 * conventions (package.json, the name of the host). Neither an option nor its `SLUICE_*` variable is replaced.
 */
export function withResource(resolution: Resolution, attributes: Readonly<Record<string, unknown>>): Resolution {
  const options: Record<string, unknown> = { ...resolution.options }
  for (const name of Object.keys(attributesByOption) as (keyof typeof attributesByOption)[]) {
    const source = resolution.sources[name]
    if (source === 'option' || source === optionTable[name].variable) continue
    const described = attributesByOption[name].map((key) => attributes[key]).find(isName)
    if (described !== undefined) options[name] = described.trim()
  }
  return { ...resolution, options: options as unknown as Resolution['options'] }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && !unknownService.test(value)
}
