import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeFiles } from '../../src/runtime/files.js'
import { Acknowledgements, acknowledgementsOf } from '../../src/spool/acknowledgements.js'
import { setUpLoneSpool } from '../support/lone-spool.js'
import { filesIn, leaveRecords, linesIn, pass, passUntil, segmentsIn, spoolFolder } from '../support/spool.js'

/** An engine has left so many records, of which the first one is settled. A look for them comes after a second. */
async function setUpLeft(count = 3) {
  const dir = spoolFolder()
  await leaveRecords(dir, count)
  const segment = segmentsIn(dir)[0]!
  new Acknowledgements(segment, nodeFiles).add([0])
  return { dir, left: dirname(segment), acks: acknowledgementsOf(segment), ...setUpLoneSpool(dir) }
}

const bodies = (records: readonly { readonly body: string }[]) => records.map(({ body }) => JSON.parse(body).message)

describe('records that are taken over', () => {
  it.each([
    ['has links', undefined],
    ['has no links', 'EPERM'],
  ])('leave those behind that are settled, on a file system that %s', async (_, code) => {
    const { dir, left, clock, disk, owner, said } = await setUpLeft()
    disk.fault = (call) => (/^linkSync .*acks$/.test(call) ? code : undefined)
    await pass(clock, 3000)
    expect(bodies(owner.restored)).toEqual(['left 1', 'left 2'])
    expect([owner.told, said]).toEqual([[{ adopt: 2, lane: 0 }], []])
    expect(readdirSync(dir).map((name) => join(dir, name))).not.toContain(left)
  })

  it('leave no file when all of them are settled', async () => {
    const { dir, clock, owner } = await setUpLeft(1)
    await pass(clock, 1500)
    expect(segmentsIn(dir)).toEqual([])
    expect(owner.restored).toEqual([])
  })

  it('come when an earlier engine got as far as the acknowledgements, which are removed where they were', async () => {
    const { dir, left, clock, disk, owner } = await setUpLeft()
    disk.fault = (call) => (/^linkSync .*acks$/.test(call) ? 'EEXIST' : undefined)
    await pass(clock, 3000)
    expect(owner.told).toEqual([{ adopt: 3, lane: 0 }])
    expect(readdirSync(dir).map((name) => join(dir, name))).not.toContain(left)
  })

  it('come when the acknowledgements stay where they were, which is said', async () => {
    const { clock, disk, owner, said } = await setUpLeft()
    disk.fault = (call) => (/^unlinkSync .*acks$/.test(call) ? 'EBUSY' : undefined)
    await pass(clock, 3000)
    expect(owner.told).toEqual([{ adopt: 2, lane: 0 }])
    expect(said).toEqual([expect.stringMatching(/a file without records cannot be removed: .* \(EBUSY/)])
  })

  it.each(['renameSync', 'readdirSync'])(
    'come later when %s fails, which is said unless another engine was quicker',
    async (operation) => {
      const { left, clock, disk, owner, said } = await setUpLeft()
      const segment = segmentsIn(left)[0]!.slice(left.length + 1)
      const failing = `${operation} ${operation === 'renameSync' ? segment : left.split('/').at(-1)}`
      disk.fault = (call) => (call === failing ? 'ENOENT' : undefined)
      await pass(clock, 2000)
      expect([owner.told, said]).toEqual([[], []])
      disk.fault = (call) => (call === failing ? 'EIO' : undefined)
      await pass(clock, 10_000)
      expect(said).toEqual([expect.stringMatching(/records of other processes cannot be taken over: .* \(EIO/)])
      disk.fault = () => undefined
      await pass(clock, 10_000)
      expect(owner.told).toEqual([{ adopt: 2, lane: 0 }])
    },
  )

  it('stay when the folder of the spool cannot be read, which is said', async () => {
    const { dir, clock, disk, said } = await setUpLeft()
    disk.fault = (call) => (call === `readdirSync ${dir.split('/').at(-1)}` ? 'EIO' : undefined)
    await pass(clock, 2000)
    expect(said).toEqual([expect.stringMatching(/cannot be taken over: they stay on disk \(EIO/)])
  })

  it('are those of values, too', async () => {
    const dir = spoolFolder()
    const first = setUpLoneSpool(dir)
    first.spool.keep(1, { body: '{"name":"n"}', bytes: 12, severity: 6, idempotencyKey: 'key' })
    first.spool.close()
    const { clock, owner } = setUpLoneSpool(dir)
    await pass(clock, 3000)
    expect(owner.told).toEqual([{ adopt: 1, lane: 1 }])
    expect(owner.restored).toHaveLength(1)
  })

  it('are not told when the spool is closed while they are read: they stay for the next one', async () => {
    const { dir, clock, spool, owner } = await setUpLeft()
    clock.schedule(() => spool.close(), 1000)
    await pass(clock, 30_000)
    expect(owner.told).toEqual([])
    expect(linesIn(dir)).toHaveLength(3)
    expect(clock.timers).toBe(0)
    const next = setUpLoneSpool(dir)
    await pass(next.clock, 3000)
    expect(next.owner.told).toEqual([{ adopt: 2, lane: 0 }])
  })

  it('are looked for no more when their file is gone', async () => {
    const { left, clock, disk, owner, said } = await setUpLeft()
    const segment = segmentsIn(left)[0]!.slice(left.length + 1)
    disk.fault = (call) => (call === `openSync ${segment}` ? 'ENOENT' : undefined)
    await pass(clock, 3000)
    expect(said).toEqual([expect.stringMatching(/cannot be taken over/)])
    disk.fault = () => undefined
    await pass(clock, 20_000)
    expect(owner.told).toEqual([])
  })

  it('are read again at the next look when they could not be read', async () => {
    const { left, clock, disk, owner } = await setUpLeft()
    const segment = segmentsIn(left)[0]!.slice(left.length + 1)
    disk.fault = (call) => (call === `openSync ${segment}` ? 'EIO' : undefined)
    await pass(clock, 3000)
    disk.fault = () => undefined
    await pass(clock, 10_000)
    expect(owner.told).toEqual([{ adopt: 2, lane: 0 }])
  })
})

describe('the way of adopted records into memory', () => {
  it('is open when there is room, within a tenth of a second', async () => {
    const { clock, owner } = await setUpLeft()
    owner.free = { records: 0, bytes: 0 }
    await pass(clock, 5000)
    expect(owner.restored).toEqual([])
    owner.free = { records: 1, bytes: 1_000_000 }
    await pass(clock, 200)
    expect(owner.restored.length).toBeGreaterThan(0)
  })

  it('has a hundred of them each tenth of a second, and no timer after the last', async () => {
    const { clock, owner } = await setUpLeft(301)
    // A busy machine may find the files later.
    await passUntil(clock, 10_000, () => owner.restored.length > 0)
    for (const count of [100, 200, 300]) {
      expect(owner.restored.length).toBe(count)
      await pass(clock, 100)
    }
    await pass(clock, 300)
    expect(owner.restores).toBe(3)
    // Only the next look is to come.
    expect(clock.timers).toBe(1)
  })
})

describe('a holder of a folder', () => {
  /** An engine lives, and gives no sign of it. Its lock names an owner with these changes. */
  async function setUpLiving(changes: object) {
    const dir = spoolFolder()
    const living = setUpLoneSpool(dir)
    living.keep('left')
    living.spool.commit()
    const lock = filesIn(dir).find((path) => path.endsWith('lock-1'))!
    writeFileSync(lock, JSON.stringify({ ...JSON.parse(readFileSync(lock, 'utf8')), ...changes }))
    return setUpLoneSpool(dir)
  }

  it('that can be seen and lives keeps it without a sign of life', async () => {
    const { clock, owner } = await setUpLiving({})
    await pass(clock, 90_000)
    expect(owner.told).toEqual([])
  })

  it('that cannot be seen loses it at the seventh look without a sign of life', async () => {
    const { clock, owner } = await setUpLiving({ namespace: 'pid:[1]' })
    await pass(clock, 60_500)
    expect(owner.told).toEqual([])
    await pass(clock, 1500)
    expect(owner.told).toEqual([{ adopt: 1, lane: 0 }])
  })

  it('keeps it when another one claims it a moment later', async () => {
    const { clock, disk, owner, said } = await setUpLeft()
    disk.fault = (call) => (/^linkSync lock-/.test(call) ? 'EEXIST' : undefined)
    await pass(clock, 3000)
    expect([owner.told, said]).toEqual([[], []])
  })

  it('is not asked for it by an engine that wants none of its segments', async () => {
    const { dir } = await setUpLeft()
    const { clock, disk } = setUpLoneSpool(dir, { lanes: [{ kind: 'logs', bucket: 'other' }] })
    await pass(clock, 3000)
    expect(disk.calls.filter((call) => call.startsWith('linkSync'))).toEqual([])
  })
})
