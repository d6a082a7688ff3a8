import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { leave, setUpLoneSpool } from '../support/lone-spool.js'
import { filesIn, segmentsIn, spoolFolder } from '../support/spool.js'

/** A process with a spool, which does what it is told. */
class Program {
  readonly child: ChildProcess
  readonly #answers: AsyncIterator<string>

  constructor(dir: string) {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'fixtures/spools.js'), dir], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.child = child
    this.#answers = createInterface(child.stdout)[Symbol.asyncIterator]()
    onTestFinished(() => void child.kill('SIGKILL'))
  }

  async do(line: string): Promise<unknown> {
    this.child.stdin!.write(`${line}\n`)
    const { value } = await this.#answers.next()
    return JSON.parse(value)
  }

  async end(): Promise<void> {
    const closed = once(this.child, 'close')
    this.child.kill('SIGKILL')
    await closed
  }
}

/** From now on nobody can see the owner of a folder. */
function hideOwner(dir: string): void {
  const lock = filesIn(dir).find((path) => path.endsWith('lock-1'))!
  writeFileSync(lock, JSON.stringify({ ...JSON.parse(readFileSync(lock, 'utf8')), namespace: 'pid:[1]' }))
}

describe('a process that was killed', () => {
  it('leaves its records to exactly one of several that look at the same time', async () => {
    const dir = spoolFolder()
    const names: string[] = []
    const dead = Array.from({ length: 3 }, () => new Program(dir))
    for (const [index, program] of dead.entries()) {
      for (let record = 0; record < 3; record++) {
        names.push(`${index}-${record}`)
        expect(await program.do(`keep ${index}-${record}`)).toBe(true)
      }
    }
    await Promise.all(dead.map((program) => program.end()))
    for (let engine = 0; engine < 20; engine++) {
      names.push(`left-${engine}`)
      leave(dir, [`left-${engine}`], { wallClock: Date.now })
    }
    const living = Array.from({ length: 3 }, () => new Program(dir))
    // They have started when they answer.
    await Promise.all(living.map((program) => program.do('said')))
    const read = await Promise.all(
      living.map(async (program) => {
        await program.do('pass 1000')
        return (await program.do('read')) as string[]
      }),
    )
    expect(read.flat().sort()).toEqual(names.sort())
    expect(await Promise.all(living.map((program) => program.do('said')))).toEqual([[], [], []])
  })
})

describe('a process that was frozen for so long that it seemed dead', () => {
  it('finds out when it wakes, and what it wrote before is not lost', async () => {
    const dir = spoolFolder()
    const frozen = new Program(dir)
    expect(await frozen.do('keep one')).toBe(true)
    hideOwner(dir)
    frozen.child.kill('SIGSTOP')

    const { clock, logs, said } = setUpLoneSpool(dir)
    await clock.advance(60_000)
    expect(logs.read('adopted')).toEqual([])
    await clock.advance(15_000)
    const [one] = logs.read('adopted')
    expect(one!.message).toBe('one')

    frozen.child.kill('SIGCONT')
    // Less than a second has passed for it: it has not looked at its lock.
    expect(await frozen.do('keep two')).toBe(true)
    logs.settle(one!.ref)
    expect(segmentsIn(dir)).toHaveLength(1)
    await clock.advance(10_000)
    const again = logs.read('adopted')
    expect(again.map(({ message }) => message)).toEqual(['two'])

    await frozen.do('pass 500')
    expect(await frozen.do('keep three')).toBe(false)
    expect(await frozen.do('said')).toEqual([
      expect.stringMatching(/its folder was removed, or taken by another process/),
    ])
    await frozen.do('pass 1000')
    expect(await frozen.do('keep four')).toBe(true)
    expect(new Set(segmentsIn(dir).map((path) => join(path, '..'))).size).toBe(2)
    for (const { ref } of again) logs.settle(ref)
    await clock.advance(10_000)
    expect(logs.read('adopted')).toEqual([])
    expect(segmentsIn(dir)).toHaveLength(1)
    expect(said).toEqual([])
  })
})
