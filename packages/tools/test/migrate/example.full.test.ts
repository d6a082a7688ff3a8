import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startProgram } from '../../../../test/support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../../../test/support/receiver.js'
import { ReceiverContent } from '../../../../test/support/receiver-content.js'

const examples = join(import.meta.dirname, '../../../../examples/migration')

let receiver: TestReceiver
let content: ReceiverContent
let folder: string
let lines: string
beforeEach(async () => {
  receiver = await startTestReceiver()
  content = new ReceiverContent(receiver)
  const { key, schema } = JSON.parse(readFileSync(join(examples, 'article-type.json'), 'utf8'))
  await content.makeType(key, schema)
  folder = mkdtempSync(join(tmpdir(), 'sluice-example-'))
  lines = join(folder, 'articles.ndjson')
})
afterEach(async () => {
  rmSync(folder, { recursive: true })
  await receiver.close()
})

function migrate(...more: string[]) {
  const written = ['migrate', lines, '--project', 'demo', '--type', 'article', ...more]
  return startProgram(join(import.meta.dirname, '../../bin/sluice-tools.js'), {
    arguments: written,
    variables: receiver.variables,
  }).ended
}

describe('the example migration/from-ghost.js', () => {
  it('makes lines of migration/ghost-export.json, of which the one with a frame is an entry only when it was mended', async () => {
    const written = [join(examples, 'ghost-export.json')]
    const { code, stdout, stderr } = await startProgram(join(examples, 'from-ghost.js'), {
      arguments: written,
    }).ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    writeFileSync(lines, stdout)

    const dry = await migrate('--dry-run')
    expect(dry).toMatchObject({ code: 0, stdout: '3 of 3 lines are valid; nothing was sent\n' })
    expect(await content.entries('article')).toEqual([])

    expect(await migrate()).toMatchObject({ code: 1, stdout: expect.stringContaining('2 of 3 lines have arrived\n') })
    expect(readFileSync(`${lines}.rejects.ndjson`, 'utf8')).toContain('markup that is not accepted: <iframe>')
    const entries = await content.entries('article')
    expect(entries.map(({ fields, state, createdAt }) => [fields.title, state, createdAt]).sort()).toEqual([
      ['Hello', 'Published', '2019-05-01T12:00:00.000Z'],
      ['Unfinished', 'Draft', '2020-02-29T10:00:00.000Z'],
    ])

    writeFileSync(lines, stdout.replace(/<iframe.*?<\/iframe>/, '<p>A film.</p>'))
    const again = { code: 0, stdout: '3 of 3 lines have arrived (2 of them in earlier runs)\n' }
    expect(await migrate()).toMatchObject(again)
    expect(await content.entries('article')).toHaveLength(3)
  })
})
