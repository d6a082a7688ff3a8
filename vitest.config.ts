import { defineConfig } from 'vitest/config'

const slow = '**/*.full.test.ts'
const shared = {
  pool: 'forks' as const,
  // Packages are tested as they are shipped: built, and run by Node itself.
  server: { deps: { external: [/\/dist\//] } },
  testTimeout: 30_000,
}

export default defineConfig({
  test: {
    // Most of a test's time is another process's: on two cores vitest would take one.
    maxWorkers: 2,
    projects: [
      { test: { ...shared, name: 'library', include: ['test/**/*.test.ts'], exclude: [slow] } },
      { test: { ...shared, name: 'receiver', include: ['receiver/test/**/*.test.ts'], exclude: [slow] } },
      { test: { ...shared, name: 'full', include: ['{test,receiver/test}/**/*.full.test.ts'], testTimeout: 600_000 } },
    ],
  },
})
