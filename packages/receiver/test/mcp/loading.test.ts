import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const dist = new URL('../../dist/', import.meta.url)

/** The packages that a module loads with it, through all modules that it imports statically. */
function packagesOf(entry: string): Set<string> {
  const packages = new Set<string>()
  const seen = new Set<string>()
  const look = (module: URL) => {
    if (seen.has(module.href)) return
    seen.add(module.href)
    for (const [, name = ''] of readFileSync(module, 'utf8').matchAll(
      /(?:^|[;}\s])(?:from|import)\s*["']([^"']+)["']/g,
    )) {
      if (name.startsWith('.')) look(new URL(name, module))
      else
        packages.add(
          name
            .split('/')
            .slice(0, name.startsWith('@') ? 2 : 1)
            .join('/'),
        )
    }
  }
  look(new URL(entry, dist))
  return packages
}

it('the SDK of the protocol is loaded with its command and its route, and not with the receiver', () => {
  const sdk = '@modelcontextprotocol/server'
  for (const entry of ['mcp/one-request.js', 'mcp/stdio-connection.js']) expect(packagesOf(entry)).toContain(sdk)
  for (const entry of [
    'index.js',
    'cli.js',
    'receiver.js',
    'client.js',
    'commands/run-command.js',
    'commands/mcp-command.js',
  ]) {
    expect(packagesOf(entry), entry).not.toContain(sdk)
  }
  expect(packagesOf('receiver.js')).toContain('fastify')
})
