import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { shortened } from '../../tools/shorten.js'

const folder = mkdtempSync(join(tmpdir(), 'sluice-shorten-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the scripts of the package', () => {
  it('keep the names of functions and classes and of what entries export, and no name between files', async () => {
    const files = await shortened([
      {
        path: 'dist/sluice-AAAA.js',
        text: `var early = calledBefore();
function calledBefore() {
  return "early";
}
async function failsLate(value) {
  throw new OwnError(value);
}
var OwnError = class extends Error {
  code = early;
}, fromArrow = (value) => {
  return calledBefore().concat(value);
};
export {
  OwnError,
  failsLate,
  fromArrow
};
`,
      },
      { path: 'dist/sluice-LATE.js', text: 'function lateName() {\n  return 1;\n}\nexport {\n  lateName\n};\n' },
      {
        path: 'dist/entry.mjs',
        text: `import {
  OwnError as OwnError2,
  failsLate,
  fromArrow
} from "./sluice-AAAA.js";
var late = async () => (await import("./sluice-LATE.js")).lateName();
export {
  OwnError2 as OwnError,
  failsLate,
  fromArrow,
  late
};
`,
      },
    ])
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    for (const { path, text } of files) writeFileSync(join(folder, path.replace('dist/', '')), text)
    const { OwnError, failsLate, fromArrow, late } = await import(pathToFileURL(join(folder, 'entry.mjs')).href)
    const error = await failsLate('no').catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(OwnError)
    expect(error).toMatchObject({ message: 'no', code: 'early' })
    expect(error.stack).toMatch(/^Error: no\n {4}at (async )?failsLate \(/)
    expect([OwnError.name, failsLate.name, fromArrow.name, fromArrow('!')]).toEqual([
      'OwnError',
      'failsLate',
      'fromArrow',
      'early!',
    ])
    expect(await late()).toBe(1)
    const shared = files.find(({ path }) => path.includes('AAAA'))?.text
    expect(shared?.match(/failsLate|calledBefore|OwnError/g)).toEqual(['calledBefore', 'failsLate', 'OwnError'])
    expect(files.find(({ path }) => path.includes('entry'))?.text).toMatch(
      /^import\{a( as \w)?,b( as \w)?,c( as \w)?\}from"\.\/sluice-AAAA\.js"/,
    )
  })
})
