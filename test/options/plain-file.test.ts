import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ConfigError } from '../../src/errors/sluice-error.js'
import { resolve } from '../../src/options/resolve.js'
import { ApiKey, Secret } from '../../src/options/secret.js'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-file-'))
  path = join(folder, 'file')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Other things that may be found in the place of a file. */
const strangers: Readonly<Record<string, (path: string) => void>> = {
  'a named pipe': (path) => execFileSync('mkfifo', [path]),
  'a folder': (path) => mkdirSync(path),
  'a link to a device that never ends': (path) => symlinkSync('/dev/zero', path),
  'a file that is too large': (path) => writeFileSync(path, 'k'.repeat(100_000)),
}
const names = Object.keys(strangers)

describe('a file that holds a key', () => {
  it.each(names)('is a mistake of the configuration where it is %s', (name) => {
    strangers[name]!(path)
    for (const [option, needs] of [
      ['apiKey', 'logs'],
      ['accessToken', 'content'],
    ] as const) {
      const variable = option === 'apiKey' ? 'SLUICE_API_KEY_FILE' : 'SLUICE_ACCESS_TOKEN_FILE'
      const environment = { SLUICE_URL: 'https://api.example', SLUICE_BUCKET: 'b', [variable]: path }
      try {
        resolve({}, { environment, needs })
        expect.unreachable()
      } catch (error) {
        expect(error).toMatchObject({ code: 'SLUICE_CONFIG_INVALID', option, variable } satisfies Partial<ConfigError>)
        expect((error as Error).message).toContain(path)
      }
    }
  })

  it('may be a link, as in Kubernetes', () => {
    writeFileSync(join(folder, 'data'), '\ufeffsecret\n')
    symlinkSync('data', path)
    const environment = { SLUICE_URL: 'https://api.example', SLUICE_BUCKET: 'b', SLUICE_API_KEY_FILE: path }
    expect(resolve({}, { environment, needs: 'logs' }).options.apiKey.reveal()).toBe('secret')
  })

  it.each([...names, 'missing', 'empty', 'binary', 'of several lines'])(
    'that is %s when the key is refused keeps the old key, and is read again',
    (name) => {
      const key = new ApiKey(new Secret('old', path))
      const texts: Readonly<Record<string, string>> = {
        empty: '',
        binary: '\u0000\u0001\ufffd',
        'of several lines': 'a\r\nx: y',
      }
      if (texts[name] !== undefined) writeFileSync(path, texts[name])
      strangers[name]?.(path)
      expect(key.renew('old')).toBe(false)
      expect(key.reveal()).toBe('old')
      rmSync(path, { recursive: true, force: true })
      writeFileSync(path, 'new\n')
      expect(key.reveal()).toBe('new')
      expect(key.renew('old')).toBe(true)
    },
  )
})

describe('a package.json', () => {
  it.each(names.slice(0, 3))('that is %s is passed over, and the next one is found', (name) => {
    strangers[name]!(join(folder, 'package.json'))
    const { options } = resolve({ disabled: true }, { environment: {}, needs: 'logs', folder })
    expect(options.appName).toBe('unknown_service:node')
  })
})
