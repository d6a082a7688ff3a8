import { dirname, join } from 'node:path'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { runtimes } from '../records/wire.js'
import { ownField, ownFields } from '../runtime/own-fields.js'
import { readPlainFile } from '../runtime/plain-file.js'
import type { Environment } from './environment.js'
import type { Around, Fallback } from './option.js'

const mainScriptKey = 'sluice:main-script'

/** Makes the main script known to workers, whose own `argv[1]` may be another script. */
export function publishMainScript(): void {
  if (isMainThread && process.argv[1] !== undefined) setEnvironmentData(mainScriptKey, process.argv[1])
}

// The name, version and environment of the service in other conventions: OpenTelemetry, Datadog, package.json.

export function serviceName({ environment, folder }: Around): Fallback<string> {
  return (
    pick(ownField(environment, 'OTEL_SERVICE_NAME'), 'OTEL_SERVICE_NAME') ??
    attribute('service.name', environment) ??
    pick(ownField(environment, 'DD_SERVICE'), 'DD_SERVICE') ??
    pick(nearestManifest(folder)?.name, 'package.json') ?? { value: 'unknown_service:node', source: 'default' }
  )
}

export function serviceVersion({ environment, folder }: Around): Fallback<string> | undefined {
  return (
    attribute('service.version', environment) ??
    pick(ownField(environment, 'DD_VERSION'), 'DD_VERSION') ??
    pick(nearestManifest(folder)?.version, 'package.json')
  )
}

export function serviceEnvironment({ environment }: Around): Fallback<string> | undefined {
  return (
    attribute('deployment.environment.name', environment) ??
    attribute('deployment.environment', environment) ??
    pick(ownField(environment, 'DD_ENV'), 'DD_ENV') ??
    pick(ownField(environment, 'NODE_ENV'), 'NODE_ENV')
  )
}

/** Serverless runtimes freeze the process between calls, and a worker may not wake up in time. */
const serverlessVariables = ['AWS_LAMBDA_FUNCTION_NAME', 'K_SERVICE', 'VERCEL', 'FUNCTIONS_WORKER_RUNTIME']

export function usualMode({ environment }: Around): Fallback<'worker' | 'inline'> {
  const serverless = serverlessVariables.find((name) => (ownField(environment, name) ?? '') !== '')
  return serverless === undefined ? { value: 'worker', source: 'default' } : { value: 'inline', source: serverless }
}

/** A frozen process sends nothing later. */
export function usualLinger(around: Around): Fallback<number> {
  const { value, source } = usualMode(around)
  return { value: value === 'inline' ? 0 : 200, source }
}

/** The runtime and its version. Bun and Deno have a `process.versions.node`, too, so they are tried first. */
export function runtimeIdentity(): { readonly name: string; readonly version: string; readonly runtime: number } {
  const { bun, deno, node } = process.versions as { bun?: string; deno?: string; node: string }
  if (bun !== undefined) return { name: 'Bun', version: bun, runtime: runtimes.bun }
  if (deno !== undefined) return { name: 'Deno', version: deno, runtime: runtimes.deno }
  return { name: 'Node.js', version: node, runtime: runtimes.node }
}

/** One of OpenTelemetry's attributes, which have the W3C Baggage form: `key=value,key=value`, with percent-encoded values. */
function attribute(name: string, environment: Environment): Fallback<string> | undefined {
  const variable = 'OTEL_RESOURCE_ATTRIBUTES'
  const values = (ownField(environment, variable) ?? '').split(',').flatMap((pair) => {
    const [key = '', ...rest] = pair.split('=')
    const value = rest.join('=').trim()
    return key.trim() === name && value !== '' ? [decoded(value)] : []
  })
  return pick(values.at(-1), `${variable} (${name})`)
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

function folderOfMainScript(): string {
  const script = isMainThread ? process.argv[1] : getEnvironmentData(mainScriptKey)
  return typeof script === 'string' ? dirname(script) : process.cwd()
}

/** Longer than any manifest. */
const maxManifestBytes = 16_777_216

function nearestManifest(start = folderOfMainScript()): { name?: string; version?: string } | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    try {
      const text = readPlainFile(join(folder, 'package.json'), { maxBytes: maxManifestBytes, follow: true })
      const manifest: unknown = JSON.parse(text.toString('utf8'))
      if (typeof manifest === 'object' && manifest !== null && Object.hasOwn(manifest, 'name')) {
        const { name, version } = ownFields(manifest as { name?: unknown; version?: unknown })
        return {
          ...(typeof name === 'string' ? { name } : {}),
          ...(typeof version === 'string' ? { version } : {}),
        }
      }
    } catch {
      // No readable manifest in this folder.
    }
    if (dirname(folder) === folder) return undefined
  }
}

function pick(value: string | undefined, source: string): Fallback<string> | undefined {
  return value === undefined || value.trim() === '' ? undefined : { value: value.trim(), source }
}
