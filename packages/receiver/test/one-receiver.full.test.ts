import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { full } from '../../../test/support/full.js'
import { dataFolder } from './data-folder.js'
import { killAll, quiet, ready, start } from './processes.js'
import { startReceiverForTest } from './support.js'

const data = dataFolder()
afterEach(killAll)

/** The status and the messages of a receiver that ends by itself. */
async function outcome({ child, exit }: ReturnType<typeof start>) {
  const texts: Buffer[] = []
  child.stderr.on('data', (bytes: Buffer) => texts.push(bytes))
  const [code] = await exit
  return { code, stderr: Buffer.concat(texts).toString() }
}

describe('a second receiver on a data folder', () => {
  it('is refused in one line that names the file, the process and the remedy', async () => {
    const { child } = await ready('--data', data.path)
    const second = await outcome(start('--port', '0', '--data', data.path))
    expect(second).toEqual({
      code: 1,
      stderr: `sluice-receiver: another receiver (process ${child.pid}) uses the data folder ${data.path} (it holds ${data.file('lock.db')}); stop it, or choose another folder with --data\n`,
    })
  })

  it('is refused in the process of the first, too, with a code', async () => {
    const first = await startReceiverForTest({ data: data.path })
    await rm(data.file('receiver.pid'))
    await expect(startReceiverForTest({ data: data.path })).rejects.toMatchObject({
      code: 'DATA_IN_USE',
      message: expect.stringMatching(/^another receiver uses the data folder/),
    })
    await first.close()
    await (await startReceiverForTest({ data: data.path })).close()
  })

  it('starts at once after a SIGKILL of the first', async () => {
    for (let round = 0; round < 3; round++) {
      const { child, exit } = await ready('--data', data.path)
      child.kill('SIGKILL')
      await exit
    }
  })

  it.runIf(full)('starts after a start that failed because the port was taken', async () => {
    const other = await startReceiverForTest()
    const port = Number(new URL(other.url).port)
    await expect(startReceiverForTest({ data: data.path, port })).rejects.toMatchObject({ code: 'PORT_TAKEN' })
    await (await startReceiverForTest({ data: data.path })).close()
    await other.close()
  })
})

describe('several first starts at once on one folder', () => {
  it('give one receiver; the others are refused, and say why', async () => {
    const starts = Array.from({ length: 4 }, () => start('--json', '--port', '0', '--data', data.path))
    const ends = starts.map(outcome)
    const readies = starts.map(({ child }) => once(child.stdout, 'data').then(() => child))
    const winner = await Promise.race(readies)
    for (const [index, { child }] of starts.entries()) {
      if (child === winner) continue
      expect(await ends[index]).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^[^\n]*another receiver[^\n]*\n$/),
      })
    }
  })

  it('bring the tables to the newest version once, where they do so without the lock of the folder', async () => {
    const fixture = join(import.meta.dirname, 'fixtures/open-store.js')
    for (let round = 0; round < 3; round++) {
      const path = data.file(`store-${round}.sqlite`)
      const children = Array.from({ length: 5 }, () =>
        spawn(process.execPath, [quiet, fixture, path], { stdio: ['ignore', 'ignore', 'pipe'] }),
      )
      const messages = children.map(async (child) => {
        const texts: Buffer[] = []
        child.stderr.on('data', (bytes: Buffer) => texts.push(bytes))
        await once(child, 'close')
        return Buffer.concat(texts).toString()
      })
      expect(await Promise.all(messages)).toEqual(['', '', '', '', ''])
    }
  })
})
