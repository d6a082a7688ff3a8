import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { parts } from './parts.js'

const { tests, slowTests = [] } = parts[process.env.MUTATED_PART ?? 'delivery']!
const thorough = process.env.MUTATED_THOROUGHLY === 'yes'

/** The quick tests first: the first that fails ends the run of a mutant. */
class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const slow = ({ moduleId }: TestSpecification) =>
      Number(
        slowTests.some((test) => moduleId.endsWith(test)) || /model|outbox|recovery|response-reader/.test(moduleId),
      )
    return [...files].sort((a, b) => slow(a) - slow(b))
  }
}

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../../', import.meta.url)),
    include: [...tests, ...(thorough ? slowTests : [])],
    setupFiles: ['tools/mutation/few-runs.ts'],
    isolate: false,
    sequence: { sequencer: QuickFirst },
    testTimeout: 20_000,
  },
})
