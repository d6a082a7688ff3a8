import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parts } from './parts.js'
import { summary } from './table.js'

// Mutates the files whose paths begin with one of the arguments; without arguments, all. The first pass has the quick tests, and few runs
// of the random ones; the second pass has all tests, for the mutants that survived. Results are kept: a later run tests only the mutants
// whose source or tests have changed. With --quick there is no second pass. With --report
// nothing runs, and the results that are there are printed.
const root = new URL('../../', import.meta.url)
const stryker = fileURLToPath(new URL('../node_modules/@stryker-mutator/core/bin/stryker.js', import.meta.url))

const switches = ['--quick', '--report']
const [quick, reportOnly] = switches.map((each) => process.argv.includes(each))
const wanted = process.argv.slice(2).filter((argument) => !switches.includes(argument))
const chosen = Object.entries(parts)
  .map(([name, { files }]) => ({ name, files: files.filter((file) => isWanted(file)) }))
  .filter(({ files }) => files.length > 0)
if (chosen.length === 0) {
  process.stderr.write(`no file that is mutated begins with ${wanted.join(' or ')}; see tools/mutation/parts.js\n`)
  process.exit(2)
}
for (const { name, files } of chosen) {
  const done =
    reportOnly || ((await mutate(name, { files })) && (quick || (await mutate(name, { files, thorough: true }))))
  if (done) print(name)
  else process.exitCode = 1
}

/** @param {string} file */
function isWanted(file) {
  return wanted.length === 0 || wanted.some((prefix) => file.startsWith(prefix))
}

/** @param {string} name @param {{ files: readonly string[], thorough?: boolean }} options */
async function mutate(name, { files, thorough = false }) {
  if (thorough && parts[name]?.slowTests === undefined) return true
  const child = spawn(
    process.execPath,
    [stryker, 'run', 'tools/mutation/stryker.config.js', '--mutate', files.join(',')],
    {
      cwd: fileURLToPath(root),
      env: { ...process.env, MUTATED_PART: name, MUTATED_THOROUGHLY: thorough ? 'yes' : 'no' },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
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
