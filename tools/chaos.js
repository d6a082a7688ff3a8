import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

// npm run chaos -- --schedules 10000 --seed 1: any number of schedules, from a seed on. A seed that fails fails again.
const { values } = parseArgs({
  options: { schedules: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
})
for (const [name, value] of Object.entries(values)) {
  if (/^[1-9]\d*$/.test(value)) continue
  process.stderr.write(`--${name}: expected a whole number from 1 on, got ${JSON.stringify(value)}\n`)
  process.exit(2)
}
const { status } = spawnSync('npx', ['vitest', 'run', '--project', 'programs', 'test/scenarios/chaos'], {
  stdio: 'inherit',
  env: { ...process.env, CHAOS_SCHEDULES: values.schedules, CHAOS_SEED: values.seed },
})
process.exit(status ?? 1)
