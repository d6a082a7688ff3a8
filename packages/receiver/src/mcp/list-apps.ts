import { Type } from '@sinclair/typebox'
import { timeText } from '../commands/printed-record.js'
import { Answer, listed } from './answer.js'
import { facetOf } from './count-logs.js'
import { countsText, pairsOf } from './counted.js'
import { limitOf, parameters, queryOf } from './parameters.js'
import { named } from './quoted-data.js'
import { pageOf } from './record-line.js'
import { type Receiver, tool } from './tool.js'

const description = `List the applications that log, the most frequent first: each with its last record, and the levels, environments, versions and hosts of its newest 10,000 records.
Where to begin when nothing is known.`

export const listApps = tool({
  name: 'list_apps',
  title: 'List applications',
  description,
  input: Type.Object({ limit: limitOf(20, 20), cursor: parameters.cursor }),
  reads: 'logs',
  async answer({ limit = 20, cursor }, receiver) {
    const facets = await receiver.ask(`/api/facets/logs${queryOf({ bucket: decodeURIComponent(receiver.bucket) })}`)
    const apps = pairsOf(facetOf(facets, 'apps')).map(([app]) => app)
    const from = Number(cursor ?? 0)
    const lines: string[] = []
    const untilMs = performance.now() + maxMs
    for (const app of apps.slice(from, from + limit)) {
      lines.push(await lineOf(app, receiver))
      if (performance.now() > untilMs) break
    }
    const items = apps.map((_, at) => lines[at - from] ?? '')
    const answer = new Answer(`Applications of the newest 10,000 records, ${apps.length} in all:`)
    return listed(answer, { items, from, limit: lines.length, lineOf: (line) => line })
  },
})

async function lineOf(app: string, { ask, bucket }: Receiver): Promise<string> {
  const facets = await ask(`/api/facets/logs${queryOf({ bucket: decodeURIComponent(bucket), appName: app })}`)
  const [newest] = pageOf(await ask(`/api/logs/${bucket}${queryOf({ appName: app, limit: 1 })}`)).list
  const last = newest === undefined ? [] : [`last record ${timeText(newest.timeStamp)}`]
  const parts = (['levels', 'envs', 'versions', 'machines'] as const).map((name) => {
    const text = countsText(facetOf(facets, name), { most: maxValues })
    return text === '' ? undefined : `${name === 'machines' ? 'hosts' : name}: ${text}`
  })
  return `${named(app)}: ${[...last, ...parts.filter((part) => part !== undefined)].join('; ')}`
}

const maxValues = 6
/** Each application is asked for by two searches, and clients wait a minute. */
const maxMs = 20_000
