import { ownField } from '../runtime/own-fields.js'
import type { Resolution } from './resolve.js'
import { table } from './table.js'

/** The attributes of OpenTelemetry's resource for an option, the first one first. */
const attributesByOption = {
  appName: ['service.name'],
  appVersion: ['service.version'],
  env: ['deployment.environment.name', 'deployment.environment'],
  machineName: ['host.name'],
} as const
type DescribedOption = keyof typeof attributesByOption

/** OpenTelemetry's SDK gives this name, with the program behind it, to a service without a name. */
const unknownService = /^unknown_service(:|$)/

/**
 * The configuration of a service that OpenTelemetry's resource describes. An attribute stands in the place of a default, and of other
 * conventions (package.json, the name of the host). Neither an option nor its `SLUICE_*` variable is replaced.
 */
export function withResource(resolution: Resolution, attributes: Readonly<Record<string, unknown>>): Resolution {
  const options: Record<string, unknown> = { ...resolution.options }
  const described = Object.entries(describedService(attributes)) as [DescribedOption, string][]
  for (const [name, value] of described) {
    const source = resolution.sources[name]
    if (source !== 'option' && source !== table[name].variables[0]?.name) options[name] = value
  }
  return { ...resolution, options: options as unknown as Resolution['options'] }
}

/** The options that the attributes of a resource set. */
export function describedService(
  attributes: Readonly<Record<string, unknown>>,
): Partial<Readonly<Record<DescribedOption, string>>> {
  const names = Object.keys(attributesByOption) as DescribedOption[]
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = attributesByOption[name].map((key) => ownField(attributes, key)).find(isName)
      return value === undefined ? [] : [[name, value.trim()]]
    }),
  )
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && !unknownService.test(value)
}
