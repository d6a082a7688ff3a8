import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { spoolFolderFault } from '../../src/spool/spool-folder.js'
import { answers } from '../support/scripted-sender.js'
import { leaveRecords, linesIn, passUntil, segmentsIn, setUpSpool, spoolFolder } from '../support/spool.js'

const another = 12_345
const isRoot = process.geteuid?.() === 0

/** An engine has ended with one record in the spool. Resolves with its folder. */
async function leave(dir: string): Promise<string> {
  await leaveRecords(dir, 1)
  return dirname(segmentsIn(dir)[0]!)
}

/** An engine logs to a spool that cannot be used, and delivers everything. Resolves with its messages. */
async function logInto(dir: string): Promise<readonly string[]> {
  const { clock, delivery, said, log } = setUpSpool(dir)
  for (let number = 0; number < 10; number++) log(`{"message":"${number}"}`)
  await clock.advance(30_000)
  expect(delivery.stats()).toMatchObject({ accepted: 10, delivered: 10 })
  return said
}

describe('the folder of a spool', () => {
  it('is refused when it is a symbolic link: one message says what to do, and memory takes over', async () => {
    const real = spoolFolder()
    const link = join(spoolFolder(), 'link')
    symlinkSync(real, link)
    const said = await logInto(link)
    expect(said[0]).toMatch(/cannot be written \(it is a symbolic link: name the folder itself in SLUICE_SPOOL_DIR/)
    expect(said.filter((text) => /cannot be written/.test(text))).toHaveLength(1)
    expect(readdirSync(real)).toEqual([])
  })

  it('is refused when it is a link that leads nowhere, and nothing is made there', async () => {
    const link = join(spoolFolder(), 'link')
    symlinkSync(join(spoolFolder(), 'nowhere'), link)
    expect((await logInto(link))[0]).toMatch(/is a symbolic link/)
    expect(existsSync(link)).toBe(false)
  })

  it('may be below a symbolic link', async () => {
    const link = join(spoolFolder(), 'run')
    symlinkSync(spoolFolder(), link)
    expect(await logInto(join(link, 'spool'))).toEqual([])
    expect(statSync(join(link, 'spool')).isDirectory()).toBe(true)
  })

  it.runIf(isRoot)('is refused when it belongs to another user, and nothing in it is sent', async () => {
    const dir = spoolFolder()
    await leave(dir)
    chownSync(dir, another, another)
    const { clock, sender, delivery, said, log } = setUpSpool(dir)
    log('{"message":"own"}')
    await clock.advance(30_000)
    expect(sender.sent).toEqual(['{"message":"own"}'])
    expect(delivery.stats()).toMatchObject({ delivered: 1, adopted: 0 })
    expect(said.join('\n')).toMatch(/belongs to user 12345, and this process runs as 0: chown it/)
    expect(linesIn(dir)).toHaveLength(1)
  })

  const facts = { isDirectory: () => true, isSymbolicLink: () => false }
  const user = { id: 1000, groups: new Set([1000, 2000]) }
  it.each([
    ['this user’s', 0o700, 1000, 1000],
    ['this user’s, open to a group of this process, as fsGroup of Kubernetes makes it', 0o2775, 1000, 2000],
    ['this user’s, open to all with the sticky bit', 0o1777, 1000, 1000],
    ['root’s, open to a group of this process', 0o2775, 0, 2000],
    ['root’s, open to all, as emptyDir of Kubernetes is', 0o777, 0, 0],
  ])('is taken when it is %s', (_words, mode, uid, gid) => {
    expect(spoolFolderFault({ ...facts, mode, uid, gid }, user)).toBeUndefined()
  })

  it.each([
    [
      'this user’s, open to all',
      0o777,
      1000,
      1000,
      /can be written by other users: chmod go-w it or change SLUICE_SPOOL_DIR/,
    ],
    ['this user’s, open to a group of others', 0o770, 1000, 3000, /can be written by other users/],
    ['another user’s', 0o700, 1001, 1000, /belongs to user 1001, and this process runs as 1000: chown it/],
  ])('is refused when it is %s', (_words, mode, uid, gid, words) => {
    expect(spoolFolderFault({ ...facts, mode, uid, gid }, user)).toMatch(words)
  })

  it('is not checked where files have no owner, as on Windows', () => {
    expect(spoolFolderFault({ ...facts, mode: 0o777, uid: 7, gid: 7 }, undefined)).toBeUndefined()
  })
})

describe('a record in the folder of a spool', () => {
  it.runIf(isRoot)('is not adopted from a folder of another user', async () => {
    const dir = spoolFolder()
    const left = await leave(dir)
    chownSync(left, another, another)
    const { clock, sender, said } = setUpSpool(dir)
    await clock.advance(30_000)
    expect([sender.sent, said]).toEqual([[], []])
    chownSync(left, 0, 0)
    await passUntil(clock, 30_000, () => sender.sent.length === 1)
  })

  it('is not adopted from a folder that others can write, which is reported once', async () => {
    const dir = spoolFolder()
    const left = await leave(dir)
    chmodSync(left, 0o777)
    const { clock, sender, said } = setUpSpool(dir)
    await clock.advance(30_000)
    expect(sender.sent).toEqual([])
    expect(said).toEqual([expect.stringMatching(/left alone \(.* is not a folder that only this user can write\)$/)])
  })

  it('is not adopted through a symbolic link', async () => {
    const dir = spoolFolder()
    const left = await leave(dir)
    const elsewhere = join(spoolFolder(), 'elsewhere')
    renameSync(left, elsewhere)
    symlinkSync(elsewhere, left)
    const { clock, sender, said } = setUpSpool(dir)
    await clock.advance(30_000)
    expect(sender.sent).toEqual([])
    expect(said).toHaveLength(1)
    expect(segmentsIn(elsewhere)).toHaveLength(1)
  })

  const strangers: Readonly<Record<string, (path: string) => void>> = {
    'a named pipe': (path) => execFileSync('mkfifo', [path]),
    'a folder': (path) => mkdirSync(path),
    'a link to another file': (path) => symlinkSync('/etc/hostname', path),
    'a link to a device that never ends': (path) => symlinkSync('/dev/zero', path),
  }
  it.each(Object.keys(strangers))(
    'is adopted when %s beside it has the name of a file of records, which is reported once',
    async (name) => {
      const dir = spoolFolder()
      const left = await leave(dir)
      const stranger = segmentsIn(left)[0]!.replace('-000001.', '-000002.')
      strangers[name]!(stranger)
      const { clock, sender, said } = setUpSpool(dir)
      await passUntil(clock, 30_000, () => sender.sent.length === 1)
      await clock.advance(30_000)
      expect(said).toEqual([
        expect.stringMatching(/was not made by Sluice and is left alone \(.* is a .*, not a file\)$/),
      ])
      expect(readdirSync(left).filter((each) => each.endsWith('.ndjson'))).toEqual([basename(stranger)])
    },
  )

  it.each(Object.keys(strangers))('stays there when %s has the name of its acknowledgements', async (name) => {
    const dir = spoolFolder()
    const left = await leave(dir)
    strangers[name]!(segmentsIn(left)[0]!.replace('.ndjson', '.acks'))
    const { clock, sender, said, end } = setUpSpool(dir)
    await clock.advance(30_000)
    expect(sender.sent).toEqual([])
    expect(said).toEqual([
      expect.stringMatching(/cannot be taken over: they stay on disk \(.*\.acks is a .*, not a file/),
    ])
    await end()
    expect(linesIn(dir)).toHaveLength(1)
  })

  it('is adopted when the lock is a named pipe, which blocks no thread and counts as an unknown owner', async () => {
    const dir = spoolFolder()
    execFileSync('mkfifo', [join(await leave(dir), 'lock-1')])
    const { clock, sender } = setUpSpool(dir)
    await passUntil(clock, 100_000, () => sender.sent.length === 1)
  })
})

describe('a file in a spool that Sluice did not write', () => {
  it('is never deleted to make room for dead letters', async () => {
    const dir = spoolFolder()
    const letters = join(dir, 'dead-letter')
    mkdirSync(letters, { mode: 0o700 })
    const notes = join(letters, 'notes.ndjson')
    for (const name of ['notes.ndjson', 'export.csv', '1-a-b-000001.ndjson.damaged']) {
      writeFileSync(join(letters, name), 'x'.repeat(100_000))
      utimesSync(join(letters, name), 0, 0)
    }
    writeFileSync(join(letters, '1-a-b-000001.ndjson'), 'x'.repeat(100_000))
    utimesSync(join(letters, '1-a-b-000001.ndjson'), 0, 0)
    const { clock, sender, log } = setUpSpool(dir, { spool: { maxBytes: 262_144 } })
    sender.answer = () => answers.rejected
    log('{"message":"refused"}')
    await clock.advance(1000)
    expect(existsSync(notes)).toBe(true)
    expect(readdirSync(letters)).toHaveLength(4)
    expect(existsSync(join(letters, '1-a-b-000001.ndjson'))).toBe(false)
    expect(linesIn(letters).map(({ body }) => body)).toEqual(['{"message":"refused"}'])
  })

  it('stays in a folder of an engine that is gone', async () => {
    const dir = spoolFolder()
    const left = await leave(dir)
    for (const name of ['notes.acks', 'lock-smith', 'lock-']) writeFileSync(join(left, name), '')
    const { clock, sender } = setUpSpool(dir)
    await passUntil(clock, 30_000, () => sender.sent.length === 1)
    await clock.advance(20_000)
    expect(readdirSync(left).sort()).toEqual(['lock-', 'lock-smith', 'notes.acks'])
  })

  it('is not followed when it is a link in the place of the dead letters', async () => {
    const dir = spoolFolder()
    const elsewhere = spoolFolder()
    symlinkSync(elsewhere, join(dir, 'dead-letter'))
    const { clock, sender, delivery, said, log } = setUpSpool(dir)
    sender.answer = (body) => (body.includes('bad') ? answers.rejected : answers.refused)
    log('{"message":"bad"}')
    await clock.advance(10)
    log('{"message":"good"}')
    await clock.advance(10)
    expect(delivery.stats()).toMatchObject({ rejected: 1 })
    expect(readdirSync(elsewhere)).toEqual([])
    // Only the dead letters fail.
    expect(linesIn(dir).map(({ body }) => body)).toContain('{"message":"good"}')
    expect(said).toEqual([expect.stringMatching(/dead letters cannot be written: .*move it away\)$/)])
  })
})
