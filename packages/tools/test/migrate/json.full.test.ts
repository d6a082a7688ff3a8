import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startTestReceiver } from '../../../../test/support/receiver.js'
import { ReceiverContent } from '../../../../test/support/receiver-content.js'
import { MigratedFile } from '../support/migrated-file.js'

describe('--json', () => {
  it('prints the summary of a migration as one object on stdout', async () => {
    const receiver = await startTestReceiver()
    onTestFinished(() => receiver.close())
    await new ReceiverContent(receiver).makeType('article')
    const file = new MigratedFile(receiver.variables, [{ fields: { title: 'one' } }, { fields: {} }, 'no JSON'])
    const checked = await file.run('--json', '--dry-run')
    const rejects = `${file.path}.rejects.ndjson`
    expect(checked.code).toBe(1)
    expect(JSON.parse(checked.stdout)).toEqual({ ok: false, lines: 3, invalid: 2, rejects })
    const { code, stdout } = await file.run('--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      lines: 3,
      arrived: 1,
      invalid: 1,
      refused: 1,
      stopped: null,
      rejects,
    })
    expect(readFileSync(rejects, 'utf8').trimEnd().split('\n')).toHaveLength(2)
  })
})
