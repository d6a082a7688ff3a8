import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ThreadLink } from '../dist/storage/sqlite/thread-link.js'

interface EchoPorts {
  readonly echo: { answer(question: string): Promise<string> }
}

let link: ThreadLink<EchoPorts>
const ask = (question: string) => link.ports.echo.answer(question)
beforeEach(() => {
  link = new ThreadLink(new URL('./fixtures/mortal-thread.js', import.meta.url), undefined)
})
afterEach(() => link.close())

describe('a link to a thread', () => {
  it('answers each question, and rejects with what the thread has thrown', async () => {
    expect(await Promise.all(['a', 'b', 'c'].map(ask))).toEqual(['a', 'b', 'c'])
    await expect(ask('fail')).rejects.toThrow(new TypeError('this question'))
    expect(await ask('d')).toBe('d')
  })

  it('rejects the questions of a dying thread with the cause, and starts another for the next question', async () => {
    const left = [ask('die'), ask('die')]
    for (const question of left) await expect(question).rejects.toThrow('this thread')
    expect(await ask('a')).toBe('a')
  })

  it('closes after it has answered all questions, and a second close does no harm', async () => {
    const answers = ['a', 'b'].map(ask)
    await link.close()
    expect(await Promise.all(answers)).toEqual(['a', 'b'])
    await link.close()
  })
})
