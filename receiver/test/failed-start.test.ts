import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Disk } from '../../test/support/disk.js'
import { dataFolder } from './data-folder.js'
import { killAll, ready, start } from './processes.js'
import { startReceiverForTest } from './support.js'

const data = dataFolder()

describe('a start that cannot use what is in the store', () => {
  it.each(['keys', 'projects', 'page_sessions'])('leaves the data folder free: table %s', async (table) => {
    await (await startReceiverForTest({ data: data.path })).close()
    data.inDatabase((database) => database.exec(`ALTER TABLE ${table} RENAME TO kept`))
    await expect(startReceiverForTest({ data: data.path })).rejects.toThrow(`no such table: ${table}`)
    data.inDatabase((database) => database.exec(`ALTER TABLE kept RENAME TO ${table}`))
    await (await startReceiverForTest({ data: data.path })).close()
  })
})

describe('a start that finds the disk full', () => {
  let disk: Disk
  beforeEach(() => {
    disk = new Disk('20m')
  })
  afterEach(async () => {
    await killAll()
    disk.close()
  })

  it('fails where it makes the key, frees folder and port, and ends the process', async (context) => {
    if (!disk.mounted) {
      console.warn('SKIPPED: mounting is not permitted here (mount -t tmpfs)')
      return context.skip()
    }
    const first = await startReceiverForTest({ data: disk.folder })
    await first.close()
    const { port } = new URL(first.url)
    const options = { data: disk.folder, port: Number(port), newKey: true }
    disk.fill()
    await expect(startReceiverForTest(options)).rejects.toThrow('database or disk is full')
    const { exit } = start('--data', disk.folder, '--port', port, '--new-key')
    expect(await exit).toEqual([1, null])
    disk.free()
    expect((await ready('--data', disk.folder, '--port', port, '--new-key')).apiKey).not.toBeNull()
  })
})
