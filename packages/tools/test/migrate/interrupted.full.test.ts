import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ContentServer } from '../../../../test/support/content-server.js'
import { full, rowsOf } from '../../../../test/support/full.js'
import type { Running } from '../../../../test/support/programs.js'
import { articles, MigratedFile, sorted, titlesOf } from '../support/migrated-file.js'

let server: ContentServer
beforeEach(async () => {
  server = await ContentServer.start()
})
afterEach(() => server.close())

const fileOf = (lines: readonly (string | object)[]) => new MigratedFile(server.variables, lines)

/** Calls back when the program prints that it has received a signal. */
function onceHeard({ stderr }: Running['process'], callBack: () => void) {
  let said = ''
  stderr.on('data', (text) => {
    const before = said
    said += text
    if (said.includes('SIGINT: waits') && !before.includes('SIGINT: waits')) callBack()
  })
}

describe('a migration that is interrupted', () => {
  it.each(rowsOf([0, 1, 37, 150], (answers) => answers === 37))(
    'by SIGKILL after %i answers creates every entry once',
    async (answers) => {
      const file = fileOf(articles(200))
      const { reached, release } = server.holdAfter(answers)
      const killed = file.start()
      await reached
      killed.process.kill('SIGKILL')
      expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' })
      release()
      server.fault = () => undefined
      const { code, stdout } = await file.run()
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('200 of 200 lines have arrived') })
      expect(sorted(server.titles)).toEqual(sorted(titlesOf(200)))
      expect(server.requests.length).toBeLessThanOrEqual(208)
    },
  )

  it.runIf(full)('by SIGKILL names every line that a service without idempotency keys may have twice', async () => {
    await server.close()
    server = await ContentServer.start({ heedsKeys: false })
    const file = fileOf(articles(300))
    let said = ''
    for (const answers of [50, 120, 200]) {
      const { reached, release } = server.holdAfter(answers)
      const killed = file.start()
      await reached
      killed.process.kill('SIGKILL')
      said += (await killed.ended).stderr
      release()
    }
    server.fault = () => undefined
    const { code, stderr } = await file.run()
    expect(code).toBe(0)
    said += stderr
    const times = new Map<unknown, number>()
    for (const title of server.titles) times.set(title, (times.get(title) ?? 0) + 1)
    expect(times.size).toBe(300)
    const twice = [...times].filter(([, count]) => count > 1).map(([title]) => String(title).slice('title '.length))
    const named = [...said.matchAll(/^line (\d+): sent again/gm)].map(([, line]) => line)
    expect(twice.length).toBeGreaterThan(0)
    expect(named).toEqual(expect.arrayContaining(twice))
    expect(named.length).toBeLessThanOrEqual(3 * 8)
  })

  it('by SIGINT takes no further line, waits for the entries under way, and says how to go on', async () => {
    const file = fileOf(articles(100))
    const { reached, release } = server.holdAfter(10)
    const { process: child, ended } = file.start(['--concurrency', '4'])
    onceHeard(child, release)
    await reached
    child.kill('SIGINT')
    const { code, signal, stdout, stderr } = await ended
    expect({ code, signal }).toEqual({ code: 1, signal: null })
    expect(stderr).toContain('SIGINT: waits for the entries under way')
    expect(stderr).toContain('sluice-tools migrate: stopped: interrupted by SIGINT')
    expect(stdout).toContain('to go on, give the same command again')
    expect(server.requests.length).toBeLessThanOrEqual(14)
    const second = await file.run()
    expect(second).toMatchObject({ code: 0, stderr: '' })
    expect(server.requests).toHaveLength(100)
  })

  it.runIf(full)('by SIGINT twice ends at once, by the signal', async () => {
    const file = fileOf(articles(100))
    const { reached, release } = server.holdAfter(10)
    const { process: child, ended } = file.start()
    onceHeard(child, () => child.kill('SIGINT'))
    await reached
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: null, signal: 'SIGINT' })
    release()
    server.fault = () => undefined
    expect(await file.run()).toMatchObject({ code: 0 })
    expect(sorted(server.titles)).toEqual(sorted(titlesOf(100)))
  })

  it.runIf(full)('while it waits for a busy service ends at once', async () => {
    let asked = () => {}
    const waits = new Promise<void>((resolve) => {
      asked = resolve
    })
    server.fault = () => {
      asked()
      return { status: 429, headers: { 'retry-after': '3600' } }
    }
    const file = fileOf(articles(5))
    const { process: child, ended } = file.start(['--concurrency', '1'])
    await waits
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/line 1: waits 300 s; the service asks for 3600 s(?:.|\n)*interrupted by SIGTERM/),
    })
    expect(file.rejects).toBeUndefined()
  })
})
