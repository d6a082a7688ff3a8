import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeResult } from './support/results.js'

// Runs the scenarios whose names begin with one of the arguments; without arguments, all. With --write their tables go to RESULTS.md, too.
const here = new URL('./', import.meta.url)
const scenarios = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !['node_modules', 'support'].includes(entry.name))
  .flatMap(({ name }) => readdirSync(new URL(`${name}/`, here)).map((file) => `${name}/${file.replace(/\.js$/, '')}`))
  .sort()

const write = process.argv.includes('--write')
const wanted = process.argv.slice(2).filter((argument) => argument !== '--write')
const chosen = scenarios.filter((name) => wanted.length === 0 || wanted.some((prefix) => name.startsWith(prefix)))
if (chosen.length === 0) {
  process.stderr.write(`no scenario begins with ${wanted.join(' or ')}; there are: ${scenarios.join(', ')}\n`)
  process.exit(2)
}
for (const name of chosen) {
  process.stdout.write(`\n${name}\n`)
  const program = fileURLToPath(new URL(`${name}.js`, here))
  const child = spawn(process.execPath, [program], { stdio: ['inherit', 'pipe', 'inherit'] })
  let table = ''
  child.stdout.on('data', (text) => {
    table += text
    process.stdout.write(text)
  })
  const [status] = await once(child, 'close')
  if (status !== 0) {
    process.stderr.write(`${name} failed\n`)
    process.exitCode = 1
  } else if (write) writeResult(name, table)
}
