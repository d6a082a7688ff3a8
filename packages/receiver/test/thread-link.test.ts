import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ThreadLink } from '../dist/storage/sqlite/thread-link.js'

let link: ThreadLink<string>
beforeEach(() => {
  link = new ThreadLink(new URL('./fixtures/mortal-thread.js', import.meta.url), undefined)
})
afterEach(() => link.close())

describe('a link to a thread', () => {
  it('answers each question, and rejects with what the thread has thrown', async () => {
    expect(await Promise.all(['a', 'b', 'c'].map((question) => link.ask(question)))).toEqual(['a', 'b', 'c'])
    await expect(link.ask('fail')).rejects.toThrow(new TypeError('this question'))
    expect(await link.ask('d')).toBe('d')
  })

  it('rejects the questions of a dying thread with the cause, and starts another for the next question', async () => {
    const left = [link.ask('die'), link.ask('die')]
    for (const question of left) await expect(question).rejects.toThrow('this thread')
    expect(await link.ask('a')).toBe('a')
  })

  it('closes after it has answered all questions, and a second close does no harm', async () => {
    const answers = ['a', 'b'].map((question) => link.ask(question))
    await link.close()
    expect(await Promise.all(answers)).toEqual(['a', 'b'])
    await link.close()
  })
})
