import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const entries = ['sluice', 'sluice/pino', 'sluice/winston', 'sluice/register', 'sluice/content']

describe('importing', () => {
  // A worker that ends while WebAssembly is being compiled in the background can take the process down.
  it.each(entries)('%s does not make Node load its own undici', async (entry) => {
    const script = `import(${JSON.stringify(entry)}).then(() => console.log(JSON.stringify(process.moduleLoadList)))`
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script])
    const loaded = JSON.parse(stdout) as string[]
    expect(loaded.filter((name) => name.includes('deps/undici'))).toEqual([])
    expect(loaded.length).toBeGreaterThan(50)
  })
})
