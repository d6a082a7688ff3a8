import { appendFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { full } from '../../../../test/support/full.js'
import { startTestReceiver, type TestReceiver } from '../../../../test/support/receiver.js'
import { folderHere, startShip } from '../support/shipping.js'

let receiver: TestReceiver
let log: string
beforeEach(async () => {
  receiver = await startTestReceiver()
  log = join(folderHere(), 'app.log')
  onTestFinished(() => receiver.close())
})

const arrived = async (...messages: string[]) => {
  const read = async () => (await receiver.logs()).map(({ message }) => message).sort()
  await expect.poll(read, { timeout: 10_000 }).toEqual([...messages].sort())
}
const follow = (...written: string[]) => startShip(['--follow', log, ...written], receiver)
const stop = async (shipping: ReturnType<typeof follow>, records: number) => {
  shipping.process.kill('SIGTERM')
  const { code, stderr } = await shipping.ended
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining(`${records} of ${records} record${records === 1 ? '' : 's'} delivered\n`),
  ])
}

describe('sluice-tools ship --follow', () => {
  it('ships present and added lines, and waits for the rest of a line', async () => {
    writeFileSync(log, 'first\nsec')
    const shipping = follow()
    await arrived('first')
    appendFileSync(log, 'ond\nthird')
    await arrived('first', 'second')
    await stop(shipping, 3)
    await arrived('first', 'second', 'third')
  })

  it.runIf(full)('skips the present lines with --from-end', async () => {
    writeFileSync(log, 'old\n')
    const shipping = follow(`${log}.missing`, '--from-end')
    await shipping.said('no such file yet')
    // The first file may be opened after the message about the second one: write until a line comes.
    let written = 0
    await expect
      .poll(
        async () => {
          appendFileSync(log, `new ${++written}\n`)
          return (await receiver.logs()).length
        },
        { timeout: 10_000 },
      )
      .toBeGreaterThan(0)
    shipping.process.kill('SIGTERM')
    expect(await shipping.ended).toMatchObject({ code: 0 })
    const messages = (await receiver.logs()).map(({ message }) => message)
    expect(messages.every((message) => message.startsWith('new '))).toBe(true)
  })

  it('reads the new file after a rotation by name, and the old one as long as it is written', async () => {
    writeFileSync(log, 'a\n')
    const shipping = follow()
    await arrived('a')
    renameSync(log, `${log}.1`)
    appendFileSync(`${log}.1`, 'b, written late\n')
    writeFileSync(log, 'c\n')
    await arrived('a', 'b, written late', 'c')
    appendFileSync(`${log}.1`, 'd, later still\n')
    appendFileSync(log, 'e\n')
    await arrived('a', 'b, written late', 'c', 'd, later still', 'e')
    await stop(shipping, 5)
  })

  it.runIf(full)('begins again with a truncated file, even when it has grown beyond the old place', async () => {
    writeFileSync(log, 'a\npartial')
    const shipping = follow()
    await arrived('a')
    truncateSync(log)
    appendFileSync(log, 'b\n')
    await arrived('a', 'partial', 'b')
    truncateSync(log)
    appendFileSync(log, 'c, which is longer than all that was there before it\n')
    await arrived('a', 'partial', 'b', 'c, which is longer than all that was there before it')
    await stop(shipping, 4)
  })

  it.runIf(full)(
    'reads a file that is deleted and created again, and ships a file that comes back only once',
    async () => {
      writeFileSync(log, 'a\n')
      const shipping = follow()
      await arrived('a')
      rmSync(log)
      writeFileSync(log, 'b\n')
      await arrived('a', 'b')
      renameSync(log, `${log}.away`)
      appendFileSync(`${log}.away`, 'c\n')
      await arrived('a', 'b', 'c')
      // By now it has noticed that the name is gone.
      appendFileSync(`${log}.away`, 'd\n')
      await arrived('a', 'b', 'c', 'd')
      renameSync(`${log}.away`, log)
      appendFileSync(log, 'e\n')
      await arrived('a', 'b', 'c', 'd', 'e')
      await stop(shipping, 5)
    },
  )

  it.runIf(full)('waits for a file that does not exist yet, and says so once', async () => {
    const shipping = follow()
    await shipping.said(`there is no such file yet: ${log}; waits for it`)
    writeFileSync(log, 'a\n')
    await shipping.said(`${log}: is there now`)
    await arrived('a')
    await stop(shipping, 1)
  })

  it.runIf(full)('follows several files at a time', async () => {
    const second = `${log}.second`
    writeFileSync(log, 'a\n')
    writeFileSync(second, 'b\n')
    const shipping = follow(second)
    await arrived('a', 'b')
    appendFileSync(log, 'c\n')
    appendFileSync(second, 'd\n')
    await arrived('a', 'b', 'c', 'd')
    await stop(shipping, 4)
  })

  it('ships every line at least once when it is killed and started again', async () => {
    writeFileSync(log, 'a\n')
    const killed = follow()
    await arrived('a')
    killed.process.kill('SIGKILL')
    await killed.ended
    appendFileSync(log, 'b\n')
    const shipping = follow()
    await arrived('a', 'a', 'b')
    await stop(shipping, 2)
  })
})
