import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { parts } from './parts.js'

/** The quick tests first: the first that fails ends the run of a mutant. */
class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const slow = ({ moduleId }: TestSpecification) => Number(/poison|model|outbox|recovery/.test(moduleId))
    return [...files].sort((a, b) => slow(a) - slow(b))
  }
}

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../', import.meta.url)),
    include: [...parts[process.env.MUTATED_PART ?? 'delivery']!.tests],
    setupFiles: ['mutation/few-runs.ts'],
    isolate: false,
    sequence: { sequencer: QuickFirst },
    testTimeout: 1500,
  },
})
