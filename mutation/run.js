import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parts } from './parts.js'
import { summary } from './table.js'

// Mutates the files whose paths begin with one of the arguments; without arguments, all. Results are kept: a later run tests
// only the mutants whose source or tests have changed. With --report it runs nothing and prints the results that are there.
const root = new URL('../', import.meta.url)
const stryker = fileURLToPath(new URL('node_modules/@stryker-mutator/core/bin/stryker.js', import.meta.url))

const reportOnly = process.argv.includes('--report')
const wanted = process.argv.slice(2).filter((argument) => argument !== '--report')
const chosen = Object.entries(parts)
  .map(([name, { files }]) => ({ name, files: files.filter((file) => isWanted(file)) }))
  .filter(({ files }) => files.length > 0)
if (chosen.length === 0) {
  process.stderr.write(`no file that is mutated begins with ${wanted.join(' or ')}; see mutation/parts.js\n`)
  process.exit(2)
}
for (const { name, files } of chosen) {
  if (reportOnly || (await mutate(name, files))) print(name)
  else process.exitCode = 1
}

/** @param {string} file */
function isWanted(file) {
  return wanted.length === 0 || wanted.some((prefix) => file.startsWith(prefix))
}

/** @param {string} name @param {readonly string[]} files */
async function mutate(name, files) {
  const child = spawn(process.execPath, [stryker, 'run', 'mutation/stryker.config.js', '--mutate', files.join(',')], {
    cwd: fileURLToPath(root),
    env: { ...process.env, MUTATED_PART: name },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [status] = await once(child, 'close')
  return status === 0
}

/** @param {string} name */
function print(name) {
  const { table, survivors } = summary(
    fileURLToPath(new URL(`dist/${name}.incremental.json`, import.meta.url)),
    isWanted,
  )
  process.stdout.write(`\n${[...table, '', ...survivors].join('\n')}\n`)
}
