/** The attributes of OpenTelemetry's resource for an option of Sluice, the first one first. */
const attributesByOption = {
  appName: ['service.name'],
  appVersion: ['service.version'],
  env: ['deployment.environment.name', 'deployment.environment'],
  machineName: ['host.name'],
} as const

/** The options of Sluice that describe a service. */
export type Service = Partial<Readonly<Record<keyof typeof attributesByOption, string>>>

/** The names of these options. */
export const serviceOptions = Object.keys(attributesByOption) as readonly (keyof Service)[]

/** OpenTelemetry's SDK gives this name, with the program behind it, to a service without a name. */
const unknownService = /^unknown_service(:|$)/

/** The service that the attributes of a resource describe. */
export function serviceOf(attributes: Readonly<Record<string, unknown>>): Service {
  return Object.fromEntries(
    serviceOptions.flatMap((option) => {
      const value = attributesByOption[option]
        .map((key) => (Object.hasOwn(attributes, key) ? attributes[key] : undefined))
        .find(isName)
      return value === undefined ? [] : [[option, value.trim()]]
    }),
  )
}

const serviceAttributes: ReadonlySet<string> = new Set(Object.values(attributesByOption).flat())

/** What a resource says beside the service. */
export function withoutService(attributes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !serviceAttributes.has(name)))
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && !unknownService.test(value)
}
