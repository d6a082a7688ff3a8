import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Runs the scenarios whose names begin with one of the arguments; without arguments, all.
const here = new URL('./', import.meta.url)
const scenarios = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !['node_modules', 'support'].includes(entry.name))
  .flatMap(({ name }) => readdirSync(new URL(`${name}/`, here)).map((file) => `${name}/${file.replace(/\.js$/, '')}`))
  .sort()

const wanted = process.argv.slice(2)
const chosen = scenarios.filter((name) => wanted.length === 0 || wanted.some((prefix) => name.startsWith(prefix)))
if (chosen.length === 0) {
  process.stderr.write(`no scenario begins with ${wanted.join(' or ')}; there are: ${scenarios.join(', ')}\n`)
  process.exit(2)
}
for (const name of chosen) {
  process.stdout.write(`\n${name}\n`)
  const { status } = spawnSync(process.execPath, [fileURLToPath(new URL(`${name}.js`, here))], { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
