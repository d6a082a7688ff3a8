import { parts } from './parts.js'

// The configuration of one part, which the variable MUTATED_PART names. `run.js` sets it.
const name = process.env.MUTATED_PART ?? 'delivery'
const part = parts[name]
if (part === undefined) throw new Error(`MUTATED_PART is ${name}; there are: ${Object.keys(parts).join(', ')}`)

export default {
  plugins: ['@stryker-mutator/vitest-runner'],
  testRunner: 'vitest',
  vitest: { configFile: 'tools/mutation/vitest.config.ts', related: false },
  mutate: part.files,
  coverageAnalysis: 'perTest',
  // A static mutant, such as one of a table, needs a new process for each of its tests.
  ignoreStatic: true,
  incremental: true,
  incrementalFile: `tools/mutation/dist/${name}.incremental.json`,
  concurrency: 2,
  timeoutMS: 3000,
  reporters: ['progress-append-only', 'json'],
  jsonReporter: { fileName: `tools/mutation/dist/${name}.json` },
  // Types are not checked, neither before the tests nor by them.
  disableTypeChecks: false,
  tsconfigFile: 'none.json',
  tempDirName: 'tools/mutation/dist/sandbox',
  ignorePatterns: ['**', '!src/**', '!test/**', '!tools/mutation/*', '!package.json'],
  allowEmpty: true,
  allowConsoleColors: false,
}
