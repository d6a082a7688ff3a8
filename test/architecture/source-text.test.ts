import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSource, root, sourceFiles } from './source-files.js'

const mostLines = 300
const folders = [
  'src',
  'receiver/src',
  'receiver/web',
  'receiver/test',
  'packages/tools',
  'test',
  'benchmarks',
  'scripts',
  'examples',
  'demo',
  'runtimes',
  'fuzz',
]

const files = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.([cm]?[jt]s|tsx)$/.test(file) && !/(^|\/)node_modules\//.test(file))
    .map((file) => join(folder, file)),
)

/** Comments that begin with a question word say what a thing is about, and not what it is. */
function questions(text: string): string[] {
  return text.match(/(?<=\/\*\*?\s+(?:\*\s+)?|(?:^|\s)\/\/ +)(What|Whether|Who)\b.*/gm) ?? []
}

describe('the files of the repository', () => {
  it(`have at most ${mostLines} lines in src`, () => {
    const lines = (file: string) => readSource(file).trimEnd().split('\n').length
    expect(sourceFiles.filter((file) => lines(file) > mostLines)).toEqual([])
  })

  it('have no comment that begins with What, Whether or Who', () => {
    expect(files.length).toBeGreaterThan(500)
    const found = files.flatMap((file) =>
      questions(readFileSync(join(root, file), 'utf8')).map((each) => `${file}: ${each}`),
    )
    expect(found).toEqual([])
  })

  it.each(['/** % it is open. */', '/**\n * % it costs.\n */', 'call() // % calls?'])(
    'would be found with %j',
    (text) => {
      expect(questions(text.replace('%', 'What'))).toHaveLength(1)
    },
  )

  it('may have a question within a comment', () => {
    expect(questions("// Says whether it is open.\nit('What a day')")).toEqual([])
  })
})
