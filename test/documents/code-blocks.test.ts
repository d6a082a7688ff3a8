import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { full, rowsOf } from '../support/full.js'
import { startProgram } from '../support/programs.js'
import { startTestReceiver } from '../support/receiver.js'
import { ReceiverContent } from '../support/receiver-content.js'
import { type Block, readMarkdown, root, userDocuments } from './markdown.js'
import { courses, unrun } from './programs.js'

const allBlocks = userDocuments.flatMap((path) => readMarkdown(path).blocks)
const blocks = allBlocks.filter(({ language }) => language === 'js' || language === 'ts')
/** An application that has installed the packages, with every block in a file of its own. */
let folder: string
const fileOf = ({ name, language }: Block) =>
  `${name.replace(/\W+/g, '-')}.${courses[name]?.tests ? 'test.' : ''}${language}`

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-documents-'))
  mkdirSync(join(folder, 'src'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "name": "shop", "version": "1.0.0", "type": "module" }')
  for (const block of blocks) {
    const { after = '', files = {} } = courses[block.name] ?? {}
    for (const [file, name] of Object.entries(files)) {
      writeFileSync(join(folder, 'src', file), allBlocks.find((each) => each.name === name)!.text)
    }
    writeFileSync(join(folder, 'src', fileOf(block)), `${block.text}\n${after}\n`)
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The output of the compiler for a folder of an application. */
function typeCheck(sources: string): string {
  const compilerOptions = {
    module: 'nodenext',
    resolveJsonModule: true,
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable'],
    types: ['node'],
    strict: true,
    noImplicitAny: false,
    allowJs: true,
    checkJs: true,
    noEmit: true,
    skipLibCheck: true,
  }
  writeFileSync(join(folder, `${sources}.json`), JSON.stringify({ compilerOptions, include: [sources] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  return spawnSync(process.execPath, [tsc, '-p', `${sources}.json`], { cwd: folder, encoding: 'utf8' }).stdout
}

describe('the code in the documents', () => {
  it('is all run, or said why not', () => {
    expect(blocks.map(({ name }) => name).sort()).toEqual([...Object.keys(courses), ...Object.keys(unrun)].sort())
  })

  it('is right by the types of the package as it is built', () => {
    expect(typeCheck('src')).toBe('')
  })

  it.runIf(full)('would be found wrong by them', () => {
    mkdirSync(join(folder, 'wrong'))
    writeFileSync(join(folder, 'wrong/wrong.js'), "import { track, trak } from 'sluice'\ntrack('1001')\n")
    expect(typeCheck('wrong')).toMatch(/trak[\s\S]*'string' is not assignable/)
  })

  const programs = blocks.filter(({ name }) => courses[name] !== undefined)

  it.each(rowsOf(programs, ({ name }) => name.startsWith('README')))('does what it says: $name', async (block) => {
    const {
      logs = 0,
      values = 0,
      entries = [],
      tests,
      stdout = block.output ? `${block.output}\n` : '',
    } = courses[block.name]!
    const receiver = await startTestReceiver()
    const content = new ReceiverContent(receiver)
    await content.makeType('article')
    const program = join(folder, 'src', fileOf(block))
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const { ended } = tests
      ? startProgram(vitest, {
          arguments: ['run', '--root', folder],
          variables: receiver.variables,
        })
      : startProgram(program, { variables: receiver.variables })
    const { code, stdout: printed, stderr } = await ended
    if (tests) expect({ code, printed }).toEqual({ code: 0, printed: expect.stringContaining('1 passed') })
    else {
      const expected = typeof stdout === 'string' ? stdout : expect.stringMatching(stdout)
      expect({ code, printed, stderr }).toEqual({ code: 0, printed: expected, stderr: '' })
    }
    expect(await receiver.logs()).toHaveLength(logs)
    expect(await receiver.values()).toHaveLength(values)
    expect((await content.entries('article')).map(({ fields }) => fields.title).sort()).toEqual(entries)
    await receiver.close()
  })
})
