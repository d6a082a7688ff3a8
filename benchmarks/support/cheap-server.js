import { createServer } from 'node:net'

// Answers 201 to every request that it can count, without parsing more than it must. Prints its port.
const answer = 'HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{"result":true}'
const headEnd = Buffer.from('\r\n\r\n')

const server = createServer((socket) => {
  let rest = Buffer.alloc(0)
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    let data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let answers = 0
    for (;;) {
      const end = data.indexOf(headEnd)
      if (end === -1) break
      const length = Number(/content-length: (\d+)/i.exec(data.toString('latin1', 0, end))?.[1] ?? 0)
      const next = end + headEnd.length + length
      if (data.length < next) break
      answers++
      data = data.subarray(next)
    }
    rest = data
    if (answers > 0) socket.write(answer.repeat(answers))
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${/** @type {any} */ (server.address()).port}\n`))
process.on('disconnect', () => process.exit())
