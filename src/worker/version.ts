import { readFileSync } from 'node:fs'

/** Version of this package, for the header `user-agent`. */
export const packageVersion = readVersion()

function readVersion(): string {
  try {
    const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    return String((manifest as { version?: unknown }).version)
  } catch {
    // Bundled away from its package.json.
    return '0.0.0'
  }
}
