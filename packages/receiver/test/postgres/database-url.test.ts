import { describe, expect, it } from 'vitest'
import { readDatabaseUrl } from '../../dist/storage/postgres/database-url.js'

describe('the URL of a database', () => {
  it('names one server', () => {
    const { urls, name } = readDatabaseUrl('postgres://me:secret@db:5433/logs?sslmode=require')
    expect(urls).toEqual(['postgres://me:secret@db:5433/logs?sslmode=require'])
    expect(name).toBe('db:5433/logs')
  })

  it('names several servers, each with the login and the other parameters', () => {
    const { urls, name } = readDatabaseUrl(
      'postgresql://me:s%40cret@a,b:5433,[::1]:5434/logs?target_session_attrs=read-write&sslmode=require',
    )
    expect(urls).toEqual([
      'postgresql://me:s%40cret@a/logs?sslmode=require',
      'postgresql://me:s%40cret@b:5433/logs?sslmode=require',
      'postgresql://me:s%40cret@[::1]:5434/logs?sslmode=require',
    ])
    expect(name).toBe('a,b:5433,[::1]:5434/logs')
  })

  it.each([
    ['mysql://me:secret@db/logs', 'expected a URL such as postgres://'],
    ['secret', 'expected a URL such as postgres://'],
    ['postgres://me:secret@db/logs?target_session_attrs=read-only', 'target_session_attrs'],
    ['postgres://me:secret@db:port/logs', 'host:port'],
  ])('is refused without its password in the message: %s', (url, message) => {
    const read = () => readDatabaseUrl(url)
    expect(read).toThrow(TypeError)
    expect(read).toThrow(message)
    expect(read).not.toThrow('secret')
  })
})
