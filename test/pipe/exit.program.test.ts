import { spawn } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { exitProgram } from '../support/pipe-thread.js'
import { runningOf } from '../support/programs.js'

describe('a pipe at the end of the process', () => {
  it('takes all records within `exit`, when no event loop turns any more', async () => {
    const child = spawn(process.execPath, ['-e', exitProgram], { stdio: ['ignore', 'pipe', 'pipe'] })
    const { stdout, stderr, code } = await runningOf(child).ended
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ taken: 50_000, wrong: 0, waited: expect.any(Boolean), waits: false })
  })
})
