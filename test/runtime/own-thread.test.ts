import { afterEach, expect, it, vi } from 'vitest'
import { ownThreadEnvironment } from '../../src/runtime/own-thread.js'

afterEach(() => vi.unstubAllEnvs())

it.each([
  ['', ''],
  ['--dns-result-order=ipv4first', '--dns-result-order=ipv4first'],
  ['--require ./a.cjs --no-warnings -r ./b.cjs', '--no-warnings'],
  ['--import=./a.js  --experimental_loader ./b.js --title=x', '--title=x'],
  ['--require "./a \\" b.cjs" --title="x y"', '--title="x y"'],
  ['"--import=./a b.js" --requirement', '--requirement'],
  ['--no-warnings --import', '--no-warnings'],
  [
    '--require ./a.cjs -r "/x y/.pnp.cjs" --import=/x/.pnp.loader.mjs',
    '-r "/x y/.pnp.cjs" --import=/x/.pnp.loader.mjs',
  ],
])('of NODE_OPTIONS %s a thread of our own gets %s', (given, kept) => {
  vi.stubEnv('NODE_OPTIONS', given)
  expect(ownThreadEnvironment().NODE_OPTIONS).toBe(kept)
})

it('a thread of our own has the other variables', () => {
  vi.stubEnv('SOME_VARIABLE', 'x')
  expect(ownThreadEnvironment().SOME_VARIABLE).toBe('x')
})
