import { fileURLToPath } from 'node:url'
import { npm, root, runStep } from './step.js'

// Builds, and says so: for a person who waits for what comes after it.
process.exitCode = await runStep('Building', { ...npm(['run', 'build', '--silent']), folder: fileURLToPath(root) })
