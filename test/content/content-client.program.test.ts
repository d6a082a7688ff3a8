import { expect, it, onTestFinished } from 'vitest'
import { ContentServer } from '../support/content-server.js'
import { runProgram } from '../support/programs.js'

it('a program waits for its answer and ends without close()', async () => {
  const server = await ContentServer.start()
  onTestFinished(() => server.close())
  let answer = () => {}
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  server.fault = () => {
    setImmediate(answer)
    return held
  }
  expect(await runProgram('content-natural-end.js', server.variables)).toMatchObject({ code: 0, stdout: 'entry_1' })
})
