import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { LineIntake } from '../../src/loggers/line-intake.js'

const cleanUp: (() => unknown)[] = []
afterEach(() => {
  for (const task of cleanUp.splice(0)) task()
})

/** An intake and what it has taken. */
function intake(isRoomy = () => true) {
  const taken: string[] = []
  const stream = new LineIntake({
    take: (line) => void taken.push(line),
    close: async () => {},
    isRoomy,
  })
  return { taken, stream }
}

/** A socket to a server that sends everything back. */
async function echo() {
  const server = createServer((socket) => socket.pipe(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  cleanUp.push(
    () => socket.destroy(),
    () => server.close(),
  )
  await once(socket, 'connect')
  return socket
}

describe('the intake of lines', () => {
  it('lets answers in while a burst is taken in', async () => {
    const { taken, stream } = intake(() => false)
    const socket = await echo()
    const takenAtAnswer: number[] = []
    socket.on('data', () => {
      takenAtAnswer.push(taken.length)
      socket.write('ping')
    })
    socket.write('ping')
    // Like thread-stream: the next piece is written as soon as the one before is taken.
    const piece = `${'x'.repeat(250)}\n`.repeat(10_000)
    for (let number = 0; number < 5; number++) if (!stream.write(piece)) await once(stream, 'drain')
    expect(taken).toHaveLength(50_000)
    expect(takenAtAnswer.filter((count) => count < 50_000).length).toBeGreaterThan(10)
  })

  it.each([
    { room: 'room for them', isRoomy: true, inOneTurn: 1_048_576 },
    { room: 'no room for many', isRoomy: false, inOneTurn: 65_536 },
  ])('takes the lines of a burst by turns, where the queue has $room', async ({ isRoomy, inOneTurn }) => {
    const { taken, stream } = intake(() => isRoomy)
    const line = `${'x'.repeat(255)}\n`
    stream.write(line.repeat(10_000))
    const most = inOneTurn / line.length
    expect(taken).toHaveLength(most)
    await once(stream, 'drain')
    expect(taken).toHaveLength(10_000)
  })

  it('has taken all lines of a write that returns true, however many bytes they have: a flush comes next', () => {
    const { taken, stream } = intake(() => false)
    expect(stream.write(`${'€'.repeat(99)}\n`.repeat(600))).toBe(true)
    expect(taken).toHaveLength(600)
  })

  it('has taken all of a piece when its write is complete', async () => {
    const { taken, stream } = intake()
    let lines = 0
    for (const count of [1, 1000, 3, 100_000, 1, 70_000]) {
      lines += count
      if (!stream.write('0123456789\n'.repeat(count))) await once(stream, 'drain')
      expect(taken).toHaveLength(lines)
    }
  })

  it('takes the same lines however they are cut into pieces', async () => {
    const text = fc.string({ unit: fc.constantFrom('\n', '\r', 'a', 'é', '😀') })
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(40)), fc.boolean(), async (whole, cuts, asBytes) => {
        const { taken, stream } = intake()
        const bytes = Buffer.from(whole)
        let from = 0
        for (const cut of [...cuts, bytes.length]) {
          const piece = bytes.subarray(from, from + cut)
          if (asBytes) stream.write(piece)
          from += cut
        }
        if (!asBytes) for (const character of whole) stream.write(character)
        stream.end()
        await once(stream, 'close')
        const lines = whole.split(/\r?\n/)
        if (lines.at(-1) === '') lines.pop()
        expect(taken).toEqual(lines)
      }),
    )
  })

  it('takes long pieces that end within a line, and what is left at the end', async () => {
    const { taken, stream } = intake()
    const lines = Array.from({ length: 40_000 }, (_, number) => `line ${number}`)
    const text = lines.join('\n')
    stream.write(text.slice(0, 200_003))
    stream.end(text.slice(200_003))
    await once(stream, 'close')
    expect(taken).toEqual(lines)
  })
})
