import { createServer } from 'node:http'
import { createServer as createSilentServer } from 'node:net'
import { connect } from 'node:tls'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { describeError } from '../../src/http/describe-error.js'

async function tlsError(server: ReturnType<typeof createSilentServer>): Promise<Error> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const error = await new Promise<Error>((resolve) => connect(port, '127.0.0.1').once('error', resolve))
  server.close()
  return error
}

it('explains that a server does not speak TLS', async () => {
  expect(describeError(await tlsError(createServer()))).toBe('what answers there does not speak TLS; is it http:?')
})

it('gives the reason of OpenSSL in one line, without the place in its source', async () => {
  // An alert of TLS 1.2: handshake failure.
  const server = createSilentServer((socket) =>
    socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, 40])).on('error', () => {}),
  )
  const text = describeError(await tlsError(server))
  expect(text).toMatch(/^TLS: [\w ]+ \(ERR_SSL_\w+\)$/)
})

it.each([
  [new Error('connect ECONNREFUSED ::1:1\n'), 'connect ECONNREFUSED ::1:1'],
  [new Error('connect EMFILE 127.0.0.1:80 - Local (undefined:undefined)'), 'connect EMFILE 127.0.0.1:80'],
  [Object.assign(new Error(''), { code: 'ECONNRESET' }), 'ECONNRESET'],
  [new AggregateError([new Error('first'), new Error('second')]), 'first; second'],
  [new TypeError(''), 'TypeError'],
  [runInNewContext("new AggregateError([new Error('first'), new TypeError('')])"), 'first; TypeError'],
])('describes %s', (error, text) => {
  expect(describeError(error)).toBe(text)
})

const circle = new AggregateError([], '')
circle.errors.push(circle)
it.each<[string, unknown]>([
  ['a symbol', Symbol('s')],
  ['an object without a prototype', Object.create(null)],
  [
    'an object that refuses to be a text',
    {
      toString: () => {
        throw new Error('no')
      },
    },
  ],
  ['nothing', undefined],
  [
    'an error whose message throws',
    Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('no')
      },
    }),
  ],
  ['an error whose message is none', Object.assign(new Error('x'), { message: null, code: 7 })],
  ['an error that contains itself', circle],
])('is a text, whatever was thrown: %s', (_, thrown) => {
  expect(describeError(thrown)).toBeTypeOf('string')
})
