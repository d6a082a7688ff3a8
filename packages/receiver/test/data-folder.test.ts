import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { dataFolder } from './data-folder.js'
import { log, startReceiverForTest } from './support.js'

const data = dataFolder()
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** Starts a receiver with this folder where new files are readable by everybody, and stores a record. */
async function storeIn(folder: string): Promise<void> {
  const before = process.umask(0)
  try {
    const receiver = await startReceiverForTest({ data: folder })
    await receiver.call('POST', '/logs/demo', log)
    await receiver.close()
  } finally {
    process.umask(before)
  }
}

it.skipIf(process.platform === 'win32')(
  'a data folder and those above it can be read only by their owner, whatever the umask',
  async () => {
    const folder = data.file('made/here')
    await storeIn(folder)
    expect([folder, join(folder, '..')].map(modeOf)).toEqual(['700', '700'])
  },
)

it.skipIf(process.platform === 'win32')('a data folder that was there keeps its mode', async () => {
  const folder = data.file('shared')
  mkdirSync(folder, { mode: 0o755 })
  await storeIn(folder)
  expect(modeOf(folder)).toBe('755')
})
