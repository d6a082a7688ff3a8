import { appendFileSync, copyFileSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { full } from '../../../../test/support/full.js'
import { startTestReceiver, type TestReceiver } from '../../../../test/support/receiver.js'
import { folderHere, startShip } from '../support/shipping.js'

let receiver: TestReceiver
let log: string
let state: string
beforeEach(async () => {
  receiver = await startTestReceiver()
  const folder = folderHere()
  log = join(folder, 'app.log')
  state = join(folder, 'ship.json')
  onTestFinished(() => receiver.close())
})

const messages = async () => (await receiver.logs()).map(({ message }) => message).sort()
const arrived = (...wanted: string[]) => expect.poll(messages, { timeout: 20_000 }).toEqual([...wanted].sort())
const follow = (...more: string[]) => startShip(['--follow', log, '--state', state, ...more], receiver)

/** Ships until these messages have arrived, all together, and stops. */
async function shipUntil(...wanted: string[]): Promise<string> {
  const shipping = follow()
  await arrived(...wanted)
  shipping.process.kill('SIGTERM')
  const { code, stderr } = await shipping.ended
  expect(code).toBe(0)
  return stderr
}

describe('sluice-tools ship --follow --state', () => {
  it('goes on where the last run has stopped, in the middle of a line, too', async () => {
    writeFileSync(log, 'a\nb')
    await shipUntil('a')
    appendFileSync(log, ' is whole\nc\n')
    await shipUntil('a', 'b is whole', 'c')
    appendFileSync(log, 'd\n')
    await shipUntil('a', 'b is whole', 'c', 'd')
  })

  it('reads the rest of a file that was rotated twice while it was away, and the files between', async () => {
    writeFileSync(`${log}.1`, 'before all\n')
    writeFileSync(log, 'a\n')
    await shipUntil('a')
    appendFileSync(log, 'b\n')
    renameSync(log, `${log}.1`)
    writeFileSync(log, 'c\n')
    renameSync(`${log}.1`, `${log}.2`)
    renameSync(log, `${log}.1`)
    writeFileSync(log, 'd\n')
    await shipUntil('a', 'b', 'c', 'd')
    appendFileSync(log, 'e\n')
    await shipUntil('a', 'b', 'c', 'd', 'e')
  })

  it('reads the end of a copy whose original was truncated while it was away, and not its beginning', async () => {
    writeFileSync(log, 'a line that is read\n')
    await shipUntil('a line that is read')
    appendFileSync(log, 'b\n')
    copyFileSync(log, `${log}.1`)
    truncateSync(log)
    appendFileSync(log, 'c\n')
    await shipUntil('a line that is read', 'b', 'c')
  })

  it.runIf(full)('does not read a copy that was made while it ran', async () => {
    writeFileSync(log, 'a line that is read\n')
    const shipping = follow()
    await arrived('a line that is read')
    copyFileSync(log, `${log}.1`)
    truncateSync(log)
    appendFileSync(log, 'b\n')
    await arrived('a line that is read', 'b')
    shipping.process.kill('SIGTERM')
    await shipping.ended
    appendFileSync(log, 'c\n')
    await shipUntil('a line that is read', 'b', 'c')
  })

  it('stores lines that a truncated file has again, at the same places, once more', async () => {
    const ticks = Array.from({ length: 5 }, () => 'tick')
    writeFileSync(log, 'tick\n'.repeat(5))
    const shipping = follow()
    await arrived(...ticks)
    truncateSync(log)
    appendFileSync(log, 'tick\n'.repeat(4))
    await arrived(...ticks, ...ticks.slice(1))
    shipping.process.kill('SIGTERM')
    expect((await shipping.ended).stderr).toContain('9 of 9 records delivered\n')
    writeFileSync(log, 'tick\n')
    await shipUntil(...ticks, ...ticks)
  })

  it('notices that a file was written anew by its beginning, whatever stands where it was read up to', async () => {
    const written = (first: string, ticks: number) => `${first}\n${'tick\n'.repeat(ticks)}`
    const ticks = (count: number) => Array.from({ length: count }, () => 'tick')
    writeFileSync(log, written('one', 40))
    const shipping = follow()
    await arrived('one', ...ticks(40))
    // In one go, so that no look sees the file while it is shorter.
    writeFileSync(log, written('two', 40))
    await arrived('one', 'two', ...ticks(80))
    shipping.process.kill('SIGTERM')
    await shipping.ended
    writeFileSync(log, written('333', 50))
    await shipUntil('one', 'two', '333', ...ticks(130))
  })

  it.runIf(full)('says that a file is gone with the lines that nobody has read', async () => {
    writeFileSync(log, 'a\n')
    await shipUntil('a')
    renameSync(log, join(folderHere(), 'elsewhere'))
    writeFileSync(log, 'b\n')
    expect(await shipUntil('a', 'b')).toContain(
      `${log}: the file that was followed before is gone; lines that it got since then are lost\n`,
    )
  })

  const kills = full ? 200 : 5
  it(`has each line once, killed ${kills} times while lines are written and files are rotated`, async () => {
    const wanted = ['first']
    writeFileSync(log, 'first\n')
    await shipUntil('first')
    for (let round = 0; round < kills; round++) {
      const shipping = follow()
      const { length } = wanted
      const lines = Array.from({ length: 1 + ((round * 7) % 40) }, (_, index) => `line ${length + index}`)
      wanted.push(...lines)
      const half = lines.length >> 1
      const text = (some: readonly string[]) => some.map((line) => `${line}\n`).join('')
      appendFileSync(log, text(lines.slice(0, half)))
      if (round % 3 === 1) {
        renameSync(log, `${log}.${round}`)
        writeFileSync(log, '')
      }
      appendFileSync(log, text(lines.slice(half)))
      // Each round is killed a little later: while it starts, and when it has sent the lines before, half of its own, and all.
      const atLeast = wanted.length - lines.length + Math.floor((((round % 4) - 1) / 2) * lines.length)
      const count = async () => (await messages()).length
      if (round % 4 > 0) await expect.poll(count, { timeout: 20_000 }).toBeGreaterThanOrEqual(atLeast)
      shipping.process.kill('SIGKILL')
      await shipping.ended
    }
    appendFileSync(log, 'last\n')
    await shipUntil(...wanted, 'last')
  }, 900_000)

  it('keeps the places of several files in one state', async () => {
    const others = ['b', 'c', 'd'].map((name) => `${log}-of-${name}`)
    for (const file of [log, ...others]) writeFileSync(file, `in ${file}\n`)
    const all = [log, ...others].map((file) => `in ${file}`)
    const first = follow(...others)
    await arrived(...all)
    first.process.kill('SIGTERM')
    const { code, stderr } = await first.ended
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('--state')])
    appendFileSync(log, 'more\n')
    appendFileSync(others[0]!, 'other\n')
    const second = follow(...others)
    await arrived(...all, 'more', 'other')
    second.process.kill('SIGTERM')
    const { stderr: summary } = await second.ended
    expect(summary).toContain('2 of 2 records delivered\n')
  })

  it('says what is wrong with the state', async () => {
    writeFileSync(log, 'a\n')
    writeFileSync(state, '{"version":1}')
    const { code, stderr } = await follow().ended
    expect([code, stderr]).toEqual([
      2,
      'sluice-tools ship: --state: expected a file that --state has made, and ship.json is none: remove it, or name another one\n',
    ])
    expect(readFileSync(state, 'utf8')).toBe('{"version":1}')
    const alone = await startShip([log, '--state', state], receiver).ended
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('--state: expected together with --follow')])
  })
})
