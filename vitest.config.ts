import { defineConfig } from 'vitest/config'

const full = '**/*.full.test.ts'
/** Tests that start programs: processes of Node.js, browsers, servers. */
const programs = [
  'test/{scenarios,documents,tools}/**/*.test.ts',
  '{test,packages/{opentelemetry,tools}/test}/**/*.program.test.ts',
]
/** Folders whose tests leave nothing behind in their process: no engine, no logger, no variable, no directory. */
const pure =
  'test/{architecture,content,context,control,delivery,diagnostics,errors,hand-off,http,log,options,pipe,records,runtime,simulation,spool,volume}/**/*.test.ts'
const shared = {
  pool: 'forks' as const,
  // Packages are tested as they are shipped: built, and run by Node itself.
  server: { deps: { external: [/\/dist\//] } },
  // With FULL, a random test or a matrix takes minutes on a slow machine.
  testTimeout: process.env.FULL === undefined ? 30_000 : 300_000,
}

export default defineConfig({
  test: {
    // Tests wait for programs and timers a part of the time. On two cores vitest itself would start one worker; with four, they starve each other.
    maxWorkers: 3,
    projects: [
      {
        test: {
          ...shared,
          name: 'units',
          include: [pure],
          exclude: [full, ...programs],
          // A process runs one file after another: to start it, and to load vitest and the sources, takes longer than most of these files.
          isolate: false,
        },
      },
      {
        test: {
          ...shared,
          name: 'engines',
          include: ['{test,packages/{opentelemetry,tools}/test}/**/*.test.ts'],
          exclude: [full, pure, ...programs],
        },
      },
      {
        test: {
          ...shared,
          name: 'programs',
          include: programs,
          exclude: [full],
          // What a program leaves behind ends with it.
          isolate: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'receiver',
          include: ['packages/receiver/test/**/*.test.ts'],
          exclude: [full],
          isolate: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // A browser on a busy machine is slow.
          expect: { poll: { timeout: 30_000 } },
        },
      },
      {
        test: {
          ...shared,
          name: 'full',
          include: ['{test,packages/*/test}/**/*.full.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          expect: { poll: { timeout: 30_000 } },
        },
      },
    ],
  },
})
