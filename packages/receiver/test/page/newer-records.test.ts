import { afterEach, expect, it, vi } from 'vitest'

// The types of the page are those of browsers.
const page = '../../web/logs/older-records.js'
const { findNewer } = (await import(page)) as {
  findNewer(search: object): Promise<readonly { readonly id: number }[]>
}

afterEach(() => void vi.unstubAllGlobals())

/** A receiver with matching records, which looks at so many ids before it cuts a search. */
function receiver(ids: readonly number[], { newest, looks }: { readonly newest: number; readonly looks: number }) {
  vi.stubGlobal('fetch', async (path: string) => {
    const asked = new URLSearchParams(path.slice(path.indexOf('?')))
    const [limit, after] = [Number(asked.get('limit')), Number(asked.get('after'))]
    const last = Math.min(after + looks, newest)
    const found = ids.filter((id) => id > after && id <= last)
    const list = found.slice(0, limit).map((id) => ({ id, timeStamp: id, message: '' }))
    const cut = last < newest && found.length < limit ? { incomplete: true, next: last } : {}
    return Response.json({ total: list.length, list: list.toReversed(), ...cut })
  })
}

const newer = async (after: number) => {
  const filter = { query: new URLSearchParams(), matches: () => true }
  return (await findNewer({ bucket: 'demo', filter, enough: 2, after })).map(({ id }) => id)
}

it('finds the records that come next where the receiver cuts searches, also one that has found nothing', async () => {
  receiver([101, 103, 105, 900], { newest: 1000, looks: 60 })
  expect(await newer(100)).toEqual([101, 103])
  receiver([101, 103, 105, 1000], { newest: 1000, looks: 60 })
  expect(await newer(100)).toEqual([101, 103])
})
