import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../../../../test/support/fault-server.js'
import { full, rowsOf } from '../../../../test/support/full.js'
import { startTestReceiver, type TestReceiver } from '../../../../test/support/receiver.js'
import { startReading, store } from './reading.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
  onTestFinished(() => receiver.close())
})

const run = (...written: string[]) => startReading(['logs', ...written], receiver).ended
const messages = async (...written: string[]) => {
  const { code, stdout, stderr } = await run('--json', ...written)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const records = stdout === '' ? [] : stdout.trimEnd().split('\n')
  return records.map((line) => (JSON.parse(line) as { message: string }).message)
}

describe('sluice-receiver logs', () => {
  it('prints the newest records, oldest first, one line each', async () => {
    await store(receiver, 'logs', [
      { message: 'first' },
      { message: 'second\n  at line two', level: 'warn', appName: 'jobs' },
      { message: 'third', timeStamp: 1_700_000_001 },
    ])
    expect(await run()).toEqual({
      code: 0,
      signal: null,
      stderr: '',
      stdout:
        '2023-11-14T22:13:20.000Z info  shop first\n' +
        '2023-11-14T22:13:20.000Z warn  jobs second …\n' +
        '2023-11-14T22:13:21.000Z info  shop third\n',
    })
    expect(await messages('--lines', '2')).toEqual(['second\n  at line two', 'third'])
    expect(await messages('--lines', '0')).toEqual([])
  })

  it('prints type and message of an error, with --full its stack, sorted by time and then by arrival', async () => {
    const stack = 'TypeError: boom\n    at pay (/srv/shop/pay.js:1:2)\n    at run (/srv/shop/run.js:3:4)'
    const at = (seconds: number) => 1_700_000_000_000 + seconds * 1000
    await store(receiver, 'logs', [
      { message: `late {"id":7}\n${stack}`, level: 'error', timeStamp: at(9) },
      { message: `boom\n${stack}`, level: 'error', timeStamp: at(5) },
      { message: 'same time, later', timeStamp: at(5) },
      { message: 'two\nlines\nRangeError: no stack', level: 'error', timeStamp: at(3) },
    ])
    const texts = (stdout: string) => stdout.replaceAll(/^\S+ (info |error) shop /gm, '')
    expect(texts((await run()).stdout)).toBe(
      'two: RangeError: no stack …\nTypeError: boom …\nsame time, later\nlate {"id":7}: TypeError: boom …\n',
    )
    const indented = stack.replaceAll('\n', '\n  ')
    expect(texts((await run('--full', '--lines', '4')).stdout)).toBe(
      `two\n  lines\n  RangeError: no stack\nboom\n  ${indented}\nsame time, later\nlate {"id":7}\n  ${indented}\n`,
    )
  })

  it.runIf(full)('prints with --json the records as the API gives them', async () => {
    await store(receiver, 'logs', [{ message: 'a\u009b\u202e\u061c\nb', eventId: 7 }])
    const { stdout } = await run('--json')
    expect(stdout).toMatch(/^[\x20-\x7e]+\n$/)
    expect(JSON.parse(stdout)).toEqual((await receiver.logs())[0])
  })

  it.runIf(full)('reads on where a page is cut short', async () => {
    const long = 'x'.repeat(1_000_000)
    const numbers = Array.from({ length: 11 }, (_, index) => `${index}`)
    await store(
      receiver,
      'logs',
      numbers.map((number) => ({ message: `${number} ${long}` })),
    )
    const found = await messages('--lines', '10')
    expect(found.map((message) => message.split(' ')[0])).toEqual(numbers.slice(1))
  })

  it('prints the records that match all filters', async () => {
    await store(receiver, 'logs', [
      { message: 'Größe 17 paid', level: 'error' },
      { message: 'debugged', level: 'debug' },
      { message: 'paid 17', level: 'warn', appName: 'jobs', machineName: 'm-2' },
      { message: 'paid 18 {"status":503,"user":{"id":"u 7"}}', level: 'warn', timeStamp: Date.now() },
    ])
    const paid18 = 'paid 18 {"status":503,"user":{"id":"u 7"}}'
    const filters: [string[], string[]][] = [
      [
        ['--level', 'warn,error'],
        ['Größe 17 paid', 'paid 17', paid18],
      ],
      [
        ['--level', 'warn,error', '--lines', '2'],
        ['paid 17', paid18],
      ],
      [
        ['--min-level', 'warn'],
        ['Größe 17 paid', 'paid 17', paid18],
      ],
      [['--min-level', 'error'], ['Größe 17 paid']],
      [
        ['--not-text', 'GROSSE debugged 18'],
        ['Größe 17 paid', 'paid 17'],
      ],
      [['--machine', 'm-2'], ['paid 17']],
      [
        ['--text', '17 PAID'],
        ['Größe 17 paid', 'paid 17'],
      ],
      [['--text', 'grosse'], []],
      [['--text', 'große', '--app', 'shop'], ['Größe 17 paid']],
      [['--since', '5m'], [paid18]],
      [
        ['--since', '2023-11-14'],
        ['Größe 17 paid', 'debugged', 'paid 17', paid18],
      ],
      [['level>=warn -paid*'], []],
      [['status>=500', 'user.id:"u 7"'], [paid18]],
      [
        ['--level', 'warn', 'host:m-2 OR status:*'],
        ['paid 17', paid18],
      ],
      [['--lines', '1', 'paid'], [paid18]],
    ]
    const chosen = ['--min-level warn', '--text große --app shop', 'status>=500 user.id:"u 7"']
    for (const [words, found] of rowsOf(filters, ([each]) => chosen.includes(each.join(' ')))) {
      expect(await messages(...words), words.join(' ')).toEqual(found)
    }
  })

  it('says which value of a filter no record has, and ends with 1', async () => {
    await store(receiver, 'logs', [{ message: 'hello {"status":5}' }, { level: 'error' }, { machineName: 'm-1' }])
    const hints: [string[], string][] = [
      [['--level', 'eror'], 'level eror; known: info, error; did you mean error?'],
      [['--app', 'nope'], 'appName nope; known: shop'],
      [['level:eror'], 'level eror; known: info, error; did you mean error?'],
      [['user:7', '--since', '5m'], 'a field user; known: status; to find the text, write "user:7"'],
      [['--level', 'warn', '--machine', 'm-2', '--since', '5m'], 'machineName m-2; known: m-1; did you mean m-1?'],
    ]
    for (const [written, words] of full ? hints : hints.slice(2, 4)) {
      const said = `sluice-receiver logs: no record of bucket demo has ${words}\n`
      expect(await run(...written)).toMatchObject({ code: 1, stdout: '', stderr: said })
    }
    const unknownSign = await run('a', '|', 'b')
    expect(unknownSign).toMatchObject({ code: 2, stdout: '' })
    expect(unknownSign.stderr).toContain('q: unexpected "|" at 3: write OR')
    // A level of which nothing was logged yet.
    expect(await run('--level', 'warn')).toMatchObject({ code: 0, stdout: '', stderr: '' })
    const following = startReading(['logs', '--follow', '--app', 'nope'], receiver)
    await following.said('has appName nope; known: shop')
    await store(receiver, 'logs', [{ appName: 'nope', message: 'arrived' }])
    await following.said('nope arrived')
    following.process.kill('SIGINT')
    expect(await following.ended).toMatchObject({ code: 0 })
  })

  it.runIf(full)('shows signs for the characters that a terminal would obey', async () => {
    const hostile = '\u001b[2Jx\u0007\ry\u009b31m\u202e\u200fz\u007f'
    await store(receiver, 'logs', [{ message: hostile, level: hostile, appName: hostile }])
    const shown = '␛[2Jx␇␍y\\u009b31m\\u202e\\u200fz␡'
    expect((await run()).stdout).toBe(`2023-11-14T22:13:20.000Z ${shown} ${shown} ${shown}\n`)
  })

  it.runIf(full).each([
    [['--lines', '1e3'], '--lines: expected a whole number from 0 to 100000, got "1e3"'],
    [['--level', 'warn,'], '--level: expected names with commas between them, got "warn,"'],
    [['--min-level', 'loud'], '--min-level: expected one of silly, trace, debug, verbose, http, '],
    [['--not-text', '?!'], '--not-text: expected words, at most 1000 characters, got "?!"'],
    [['--text', '?!'], '--text: expected words, at most 1000 characters, got "?!"'],
    [['--since', 'yesterday'], '--since: expected a time such as 5m, 2h or 2026-01-31T12:00:00Z, got "yesterday"'],
    [['--since', '2026-13-45'], '--since: expected a time'],
    [['level:'], 'q: expected a value after "level:" at 7'],
    [['--folow'], 'unknown option --folow; did you mean --follow?'],
  ])('called with %j ends with 2 and says: %s', async (written, words) => {
    const { code, stdout, stderr } = await run(...written)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
  })
})

describe.each([['logs'], ['values']])('sluice %s', (command) => {
  const ended = (variables: Record<string, string>, ...more: string[]) =>
    startReading([command, ...more], { variables: { ...receiver.variables, ...variables } }).ended

  it.runIf(full).each([[[]], [['--follow']]])('with %j says that it needs the receiver', async (more) => {
    for (const body of ['{"errors":[]}', '<html>']) {
      const status = body === '<html>' ? 200 : 404
      const server = await FaultServer.start(() => ({ type: 'answer', status, body }))
      const { url } = server
      const { code, stderr } = await ended({ SLUICE_URL: url }, ...more)
      await server.close()
      expect(code).toBe(2)
      expect(stderr).toContain(`the service at ${url} has no API to read records, which only the receiver has`)
    }
  })

  it.runIf(full).each([[[]], [['--follow']]])('with %j ends with 1 where the receiver refuses', async (more) => {
    const wrongKey = await ended({ SLUICE_API_KEY: 'wrong-key' }, ...more)
    expect(wrongKey).toMatchObject({ code: 1, stderr: expect.stringContaining('the API key (SLUICE_API_KEY)') })
    const noBucket = await ended({ SLUICE_BUCKET: 'elsewhere' }, ...more)
    expect(noBucket).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no bucket elsewhere') })
  })

  it.runIf(full)('ends with 1 where nothing listens, and with 2 without a configuration', async () => {
    await receiver.close()
    expect(await ended({})).toMatchObject({ code: 1, stderr: expect.stringContaining('ECONNREFUSED') })
    const bare = await startReading([command, '--json'], { variables: {} }).ended
    expect(bare.code).toBe(2)
    expect(JSON.parse(bare.stdout)).toEqual({
      ok: false,
      error: expect.stringMatching(
        /^no receiver runs on \.\/sluice-data \(there is no such folder: sluice-data\): start one with npx sluice-receiver, or set /,
      ),
    })
  })
})
