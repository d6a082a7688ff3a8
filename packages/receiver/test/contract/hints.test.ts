import { expect, it } from 'vitest'
import { hintFor } from '../../dist/query/hint.js'
import { parseQuery } from '../../dist/query/parse-query.js'
import type { RecordFilter } from '../../dist/storage/record-storage.js'
import { withQuery } from '../../dist/storage/records/filter-with-query.js'
import { newRecord, onEachStore, times } from './stores.js'

onEachStore((store) => {
  const hintOf = (filter: RecordFilter) => hintFor(filter, store.other)

  it('names the first field, level or other value that no record has, those that occur, and the nearest', async () => {
    const bucket = store.bucket()
    const counts = { shop: 3, jobs: 2, mail: 1 }
    const message = 'request {"reqId":"r-1","res":{"statusCode":200},"user.id":5}'
    for (const [appName, count] of Object.entries(counts)) {
      await store.append(times(count, () => newRecord('logs', { bucket, appName, env: 'live', eventId: 7, message })))
    }
    const apps = 'known: shop, jobs, mail'
    const fields = 'known: reqId, res.statusCode, user.id'
    const cases: [string, string | undefined][] = [
      ['app:sop', `appName sop; ${apps}; did you mean shop?`],
      ['app=nowhere', `appName nowhere; ${apps}`],
      ['app:""', `appName ""; ${apps}`],
      ['app:sh-*', `appName sh-*; ${apps}`],
      ['env!=live env:liv', 'env liv; known: live; did you mean live?'],
      ['host:*', 'machineName *'],
      ['event:8', 'eventId 8'],
      ['level:eror', 'level eror; known: info; did you mean error?'],
      ['level=EROR since:1h', 'level EROR; known: info; did you mean error?'],
      ['app:shop level:sehr', 'level sehr; known: info'],
      ['status>=500', `a field status; ${fields}; did you mean res.statusCode?`],
      ['statuscode:*', `a field statuscode; ${fields}; did you mean res.statusCode?`],
      ['reqid:r-1', `a field reqid; ${fields}; did you mean reqId?`],
      ['res:5', `a field res; ${fields}; did you mean res.statusCode?`],
      ['lvel:error', `a field lvel; ${fields}; did you mean level?`],
      ['localhost:8080', `a field localhost; ${fields}; to find the text, write "localhost:8080"`],
      ['message:checkout', 'a field message; words without a name are looked for in the message: write checkout'],
      ['msg="card declined"', 'a field msg; words without a name are looked for in the message: write "card declined"'],
      ['(nothing OR text:5) app:shop', 'a field text; words without a name are looked for in the message: write 5'],
      ['level:error', undefined],
      ['level>=warn -status:5', undefined],
      ['reqId:r-2 nothing', undefined],
      ['res.statusCode>=500', undefined],
      ['app:shop since:1h', undefined],
    ]
    for (const [q, words] of cases) {
      const filter = withQuery({ kind: 'logs', bucket }, parseQuery(q, Date.now()))
      expect(await hintOf(filter), q).toBe(words && `no record of bucket ${bucket} has ${words}`)
    }
    const or = withQuery({ kind: 'logs', bucket }, parseQuery('nothing or none', 0))
    expect(await hintOf(or)).toBe('or was looked for as a word: the operator is OR, in capital letters')
    expect(await hintOf({ kind: 'logs', bucket, levels: ['warn', 'wran'], appName: 'none' })).toBe(
      `no record of bucket ${bucket} has level wran; known: info; did you mean warn?`,
    )
    expect(await hintOf({ kind: 'values', bucket, eventId: 2 })).toBe(`no record of bucket ${bucket} has eventId 2`)
  })

  it('knows a value of any length, and one among too many', async () => {
    const bucket = store.bucket()
    const long = 'x'.repeat(500)
    const lane = { kind: 'logs', bucket } as const
    await store.append(times(1500, (number) => newRecord('logs', { bucket, appName: `app ${number}` })))
    await store.append([newRecord('logs', { bucket, appName: `${long}a` })])
    for (const appName of ['app 1499', `${long}a`]) {
      expect(await hintOf({ ...lane, appName, text: 'none' }), appName).toBeUndefined()
      expect((await store.other.records.read({ ...lane, appName, limit: 5 })).total).toBe(1)
    }
    for (const appName of ['app 1500', `${long}b`]) {
      expect(await hintOf({ ...lane, appName })).toContain(`has appName ${appName.slice(0, 200)}`)
    }
  })
})
