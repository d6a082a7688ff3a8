import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { neededTypes } from '../../tools/types.js'

const folder = mkdtempSync(join(tmpdir(), 'sluice-types-'))
afterAll(() => rmSync(folder, { recursive: true }))

const typesOf = (files: Record<string, string>) => {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return Object.fromEntries(
    [...neededTypes([join(folder, 'entry.d.ts')])].map(([path, text]) => [path.slice(folder.length + 1), text]),
  )
}

describe('the types of the package', () => {
  it('are those that an entry exports or that these mention, with comments where an entry exports something of the file', () => {
    const texts = typesOf({
      'entry.d.ts': "export { open as default, type Options } from './open.js';\n",
      'open.d.ts': [
        "import type { Far, Near } from './near.js';\nimport { inspect } from 'node:util';\n/** Mentions Far and inspect. */\n",
        'export interface Options {\n    /** The place. */\n    readonly near: {\n        readonly at: Near;\n    };\n}\n',
        'export declare function open(options?: Options): void;\nexport declare function shut(far: Far): void;\n',
      ].join(''),
      'near.d.ts':
        '/** A place. */\nexport type Near = Place[];\nexport type Far = 1;\ninterface Place {\n    name: string;\n}\nexport {};\n',
    })
    expect(texts).toEqual({
      'entry.d.ts': "export { open as default, type Options } from './open.js';\n",
      'open.d.ts': [
        "import type { Near } from './near.js';\n/** Mentions Far and inspect. */\n",
        'export interface Options {\n\t/** The place. */\n\treadonly near: {\n\t\treadonly at: Near;\n\t};\n}\n',
        'export declare function open(options?: Options): void;\n',
      ].join(''),
      'near.d.ts': 'export type Near = Place[];\ninterface Place {\n\tname: string;\n}\nexport {};\n',
    })
  })

  it.each([
    "export * from './open.js';\n",
    'declare module "pino" {\n    type A = 1;\n}\n',
    '// a remark\nexport {};\n',
  ])('are not written where a statement is not understood: %j', (text) => {
    expect(() => typesOf({ 'entry.d.ts': text })).toThrow(/^tools\/types.js cannot read .*entry\.d\.ts/)
  })
})
