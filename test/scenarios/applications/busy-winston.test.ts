import { afterAll, beforeAll, expect, it } from 'vitest'
import { FaultServer } from '../../support/fault-server.js'
import { rowsOf } from '../../support/full.js'
import { ampleTime, runProgram } from '../../support/programs.js'

let server: FaultServer
beforeAll(async () => {
  server = await FaultServer.start()
})
afterAll(() => server.close())

const besides = ['file', 'http', 'stuck']
const ends = ['exit', 'throw', 'signal', 'close', 'flush', 'natural end', 'logger.close()']
const all = besides.flatMap((beside) => ends.map((end) => ({ beside, end })))
const some = ['file, exit', 'file, throw', 'file, close', 'stuck, flush', 'stuck, natural end', 'stuck, logger.close()']

it.each(rowsOf(all, ({ beside, end }) => some.includes(`${beside}, ${end}`)))(
  'every line that winston holds back for a transport beside ($beside) is delivered once at: $end',
  async ({ beside, end }) => {
    const before = server.taken.length
    const { stdout, stderr } = await runProgram('busy-winston.js', {
      BESIDE: beside,
      END: end,
      SLUICE_URL: server.url,
      SLUICE_API_KEY: 'k',
      SLUICE_BUCKET: 'b',
      ...ampleTime,
    })
    const messages = server.taken.slice(before).map((body) => (JSON.parse(body) as { message: string }).message)
    const numbers = messages.map((message) => Number(/^line (\d+)/.exec(message)?.[1]))
    expect(numbers.sort((one, other) => one - other)).toEqual(Array.from({ length: 2000 }, (_, number) => number))
    expect(stderr).not.toContain('logged after close()')
    if (stdout !== '') expect(JSON.parse(stdout)).toMatchObject({ accepted: 2000, delivered: 2000 })
  },
)
