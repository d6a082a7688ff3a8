import { describe, expect, it, onTestFinished } from 'vitest'
import { type Running, startProgram } from '../../support/programs.js'

/** Its output up to these words. */
async function upTo(words: string, { process }: Running): Promise<string> {
  let heard = ''
  return await new Promise((done) => {
    process.stdout.on('data', (piece) => {
      heard += piece
      if (heard.includes(words)) done(heard)
    })
  })
}

describe('the demo with --stay', () => {
  it('keeps receiver, page and shop running after the account, and ends with 0 at Ctrl+C', async () => {
    const running = startProgram('../../examples/demo/run.js', { arguments: ['--stay'] })
    onTestFinished(() => void running.process.kill('SIGTERM'))
    const heard = await upTo('Ctrl+C ends it.', running)
    const [, logs = ''] = /^receiver {2}logs=(\d+)/m.exec(heard) ?? []
    const [, page = ''] = /^the page {6}(\S+)$/m.exec(heard) ?? []
    const opened = await fetch(page, { redirect: 'manual' })
    expect([200, 303]).toContain(opened.status)
    const headers = { cookie: opened.headers.get('set-cookie')?.split(';')[0] ?? '', 'sec-fetch-site': 'same-origin' }
    const session = await fetch(new URL('/api/session', page), { headers })
    expect(await session.json()).toMatchObject({ events: { 1003: 'checkedOut', 1006: 'reportSent' } })
    const total = async () => {
      const answer = await fetch(new URL('/api/logs/demo?limit=1', page), { headers })
      return ((await answer.json()) as { total: number }).total
    }
    await expect.poll(total, { timeout: 20_000 }).toBeGreaterThan(Number(logs))
    running.process.kill('SIGINT')
    const { code, stdout, stderr } = await running.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [, delivered, accepted] = /^(\d+) of (\d+) records delivered meanwhile$/m.exec(stdout) ?? []
    expect(Number(delivered)).toBeGreaterThan(0)
    expect(delivered).toBe(accepted)
    await expect(fetch(page)).rejects.toThrow()
  })
})
