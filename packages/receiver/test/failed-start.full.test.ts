import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Disk } from '../../../test/support/disk.js'
import { dataFolder } from './data-folder.js'
import { startReceiverForTest } from './support.js'

const data = dataFolder()

describe('a start that the store refuses', () => {
  it.each([
    ['DROP TABLE identity', 'no such table: identity'],
    [refusing('projects'), 'no projects'],
    [refusing('keys'), 'no keys'],
  ])('leaves folder and port free: %s', async (damage, message) => {
    const first = await startReceiverForTest({ data: data.path })
    await first.close()
    const options = { data: data.path, port: Number(new URL(first.url).port), newKey: true }
    data.inDatabase((database) => database.exec(`DELETE FROM projects; ${damage}`))
    for (let start = 0; start < 2; start++) await expect(startReceiverForTest(options)).rejects.toThrow(message)
  })
})

/** No row can be added to this table. */
function refusing(table: string): string {
  return `CREATE TRIGGER refusing BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'no ${table}'); END`
}

describe('a start that finds the disk full', () => {
  let disk: Disk
  beforeEach(() => {
    disk = new Disk('20m')
  })
  afterEach(() => disk.close())

  it('leaves the folder free, wherever the room ends', async (context) => {
    if (!disk.mounted) {
      console.warn('SKIPPED: mounting is not permitted here (mount -t tmpfs)')
      return context.skip()
    }
    const options = { data: disk.folder, newKey: true }
    await (await startReceiverForTest(options)).close()
    const outcomes: string[] = []
    for (let pages = 0; pages < 24; pages++) {
      disk.fill(pages * 4096)
      outcomes.push(
        await startReceiverForTest(options).then(
          (receiver) => receiver.close().then(() => 'started'),
          (error) => `${error.code} ${error.message}`,
        ),
      )
      disk.free()
    }
    expect(outcomes.filter((outcome) => outcome.startsWith('DATA_IN_USE'))).toEqual([])
    expect(outcomes.at(-1)).toBe('started')
  })
})
