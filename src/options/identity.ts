import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { runtimes } from '../records/wire.js'
import { ownField, ownFields } from '../runtime/own-fields.js'
import type { Environment } from './environment.js'
import { readPlainFile } from './plain-file.js'

/** A value that the options do not set, with its origin for `debug`. */
export interface Fallback<Value> {
  readonly value: Value
  readonly source: string
}

const mainScriptKey = 'sluice:main-script'

/** Makes the main script known to workers, whose own `argv[1]` may be another script. */
export function publishMainScript(): void {
  if (isMainThread && process.argv[1] !== undefined) setEnvironmentData(mainScriptKey, process.argv[1])
}

/** The service's identity from other conventions: OpenTelemetry, Datadog, package.json. */
export function serviceIdentity(
  environment: Environment,
  folder?: string,
): {
  readonly appName: Fallback<string>
  readonly appVersion: Fallback<string> | undefined
  readonly env: Fallback<string> | undefined
} {
  const resource = resourceAttributes(ownField(environment, 'OTEL_RESOURCE_ATTRIBUTES'))
  const manifest = nearestManifest(folder ?? folderOfMainScript())
  const attribute = (name: string) => pick(resource.get(name), `OTEL_RESOURCE_ATTRIBUTES (${name})`)
  const variable = (name: string) => pick(ownField(environment, name), name)
  return {
    appName: variable('OTEL_SERVICE_NAME') ??
      attribute('service.name') ??
      variable('DD_SERVICE') ??
      pick(manifest?.name, 'package.json') ?? { value: 'unknown_service:node', source: 'default' },
    appVersion: attribute('service.version') ?? variable('DD_VERSION') ?? pick(manifest?.version, 'package.json'),
    env:
      attribute('deployment.environment.name') ??
      attribute('deployment.environment') ??
      variable('DD_ENV') ??
      variable('NODE_ENV'),
  }
}

export function machineIdentity(): {
  readonly machineName: string
  readonly runtime: number
  readonly runtimeVersion: string
} {
  const { runtime, version } = runtimeIdentity()
  return { machineName: hostname(), runtime, runtimeVersion: `v${version}` }
}

/** The runtime and its version. Bun and Deno have a `process.versions.node`, too, so they are tried first. */
export function runtimeIdentity(): { readonly name: string; readonly version: string; readonly runtime: number } {
  const { bun, deno, node } = process.versions as { bun?: string; deno?: string; node: string }
  if (bun !== undefined) return { name: 'Bun', version: bun, runtime: runtimes.bun }
  if (deno !== undefined) return { name: 'Deno', version: deno, runtime: runtimes.deno }
  return { name: 'Node.js', version: node, runtime: runtimes.node }
}

/** OpenTelemetry uses the W3C Baggage form: `key=value,key=value`, with percent-encoded values. */
function resourceAttributes(written: string | undefined): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>()
  for (const pair of written?.split(',') ?? []) {
    const [key, ...rest] = pair.split('=')
    const value = rest.join('=').trim()
    if (key === undefined || value === '') continue
    attributes.set(key.trim(), decoded(value))
  }
  return attributes
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

function nearestManifest(start: string): { name?: string; version?: string } | undefined {
  let folder = start
  for (;;) {
    try {
      const manifest: unknown = JSON.parse(readManifest(join(folder, 'package.json')))
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
    const parent = dirname(folder)
    if (parent === folder) return undefined
    folder = parent
  }
}

/** Longer than any manifest. */
const maxManifestBytes = 16_777_216

function readManifest(path: string): string {
  return readPlainFile(path, { maxBytes: maxManifestBytes, follow: true }).toString('utf8')
}

function pick(value: string | undefined, source: string): Fallback<string> | undefined {
  return value === undefined || value.trim() === '' ? undefined : { value: value.trim(), source }
}
