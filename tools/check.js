import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// The gate: every step must pass. `--skip NAME` leaves a step out.
const steps = {
  format: 'biome ci .',
  build: 'npm run build --silent',
  types: 'tsc -p tsconfig.json && tsc -p packages/receiver/web/tsconfig.json',
  knip: 'knip',
  audit: 'node tools/audit.js',
  publint:
    'publint --strict . && publint --strict packages/receiver && publint --strict packages/opentelemetry && publint --strict packages/tools',
  attw: 'attw --pack . --profile esm-only && attw --pack packages/receiver --profile esm-only && attw --pack packages/opentelemetry --profile esm-only',
  tests: 'npm test',
}

const skipped = process.argv.flatMap((argument, index, all) => (all[index - 1] === '--skip' ? [argument] : []))
for (const name of skipped) {
  if (!Object.hasOwn(steps, name)) {
    process.stderr.write(`--skip ${name}: expected one of ${Object.keys(steps).join(', ')}\n`)
    process.exit(2)
  }
}

const failed = []
for (const [name, command] of Object.entries(steps)) {
  if (skipped.includes(name)) continue
  process.stdout.write(`\n── ${name}: ${command}\n`)
  const { status } = spawnSync(command, {
    cwd: fileURLToPath(new URL('../', import.meta.url)),
    shell: true,
    stdio: 'inherit',
  })
  if (status !== 0) failed.push(name)
}
process.stdout.write(
  failed.length === 0 ? '\nThe gate is open.\n' : `\nThe gate is closed: ${failed.join(', ')} failed.\n`,
)
process.exitCode = failed.length === 0 ? 0 : 1
