import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { startReceiver } from 'sluice-receiver'
import { afterAll, describe, expect, it } from 'vitest'
import { freePort, nginxInstalled, runNginx } from '../../../../test/support/nginx.js'
import { article, caller, log, value } from '../support.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { queryOf, stopServers } from './server.js'

const configuration = readFileSync(join(import.meta.dirname, '../../deploy/nginx.conf'), 'utf8')
const otlp = {
  resourceLogs: [
    { scopeLogs: [{ logRecords: [{ timeUnixNano: '1700000000000000000', body: { stringValue: 'by OTLP' } }] }] },
  ],
}

describe.skipIf(!postgresInstalled || !nginxInstalled)(
  withPostgres('two groups of receivers behind nginx'),
  { timeout: 60_000 },
  () => {
    const closing: (() => Promise<void>)[] = [stopServers]
    afterAll(async () => {
      for (const close of closing) await close()
    })

    it('keep each bucket in its own database, whichever way it is named, and go on without one of their receivers', async () => {
      const cluster = await Cluster.start()
      const databases = [await cluster.createDatabase(), await cluster.createDatabase()]
      const receivers = []
      for (const database of databases) {
        for (let each = 0; each < 2; each++) receivers.push(await startReceiver({ port: 0, database }))
      }
      const port = await freePort()
      let http = configuration.replaceAll(':18400', `:${port}`)
      for (const [index, { url }] of receivers.entries()) {
        http = http.replace(`127.0.0.1:${18_401 + index}`, new URL(url).host)
      }
      const nginx = await runNginx({ http, port })
      closing.unshift(nginx.close, ...receivers.map((receiver) => receiver.close))
      const [one, two] = [receivers[0]!, receivers[2]!].map(({ apiKey }) => caller({ url: nginx.url, apiKey }))
      const projects = ['mail', 'eu-1']
      for (const id of projects) {
        const made = await caller(receivers[2]!)('POST', '/api/projects', { id })
        expect(made.status).toBe(201)
      }

      for (const [call, bucket] of [[one!, 'demo'], ...projects.map((project) => [two!, project] as const)] as const) {
        for (const [path, body, status] of [
          [`/logs/${bucket}`, { ...log, message: bucket }, 201],
          [`/v1/logs/${bucket}`, { ...log, message: bucket }, 201],
          [`/value_tracking/${bucket}`, value, 201],
          [`/otlp/${bucket}/v1/logs`, otlp, 200],
          [`/api/test-record?bucket=${bucket}`, {}, 201],
          [`/api/projects/${bucket}/content-types`, article, 201],
          [`/ng-cms/content/${bucket}/article`, { fields: { title: 'One' } }, 201],
        ] as const) {
          expect([path, (await call('POST', path, body)).status]).toEqual([path, status])
        }
        for (const path of [
          `/api/logs/${bucket}`,
          `/api/values/${bucket}/counts`,
          `/api/facets/logs?bucket=${bucket}`,
          `/api/account?bucket=${bucket}`,
          `/ng-cms/content-types/${bucket}`,
          `/api/projects/${bucket}/content/article`,
        ]) {
          expect([path, (await call('GET', path)).status]).toEqual([path, 200])
        }
      }
      const bucketsIn = (url: string) =>
        Promise.all(
          ['bucket FROM sluice_records', 'project FROM sluice_entries'].map(async (column) =>
            (
              await queryOf<{ name: string }>(url, `SELECT DISTINCT ${column.replace(' ', ' AS name ')} ORDER BY 1`)
            ).map(({ name }) => name),
          ),
        )
      expect(await bucketsIn(databases[0]!)).toEqual([['demo'], ['demo']])
      expect(await bucketsIn(databases[1]!)).toEqual([projects.toSorted(), projects.toSorted()])

      // A key is one of its group, under whose name people find the page and the projects.
      expect((await one!('GET', '/api/logs/mail')).status).toBe(401)
      const listed = request(`${nginx.url}/api/projects`, {
        headers: { host: 'two.logs.example.com', 'x-api-key': receivers[2]!.apiKey! },
      }).end()
      const [answer] = (await once(listed, 'response')) as [IncomingMessage]
      const { list } = (await json(answer)) as { list: { id: string }[] }
      expect(list.map(({ id }) => id)).toEqual(['demo', ...projects])

      const live = await fetch(`${nginx.url}/api/live?bucket=mail`, { headers: { 'x-api-key': receivers[2]!.apiKey! } })
      const reader = live.body!.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      while (!text.includes('event: hello')) text += (await reader.read()).value
      await two!('POST', '/logs/mail', { ...log, message: 'arrives' })
      while (!text.includes('arrives')) text += (await reader.read()).value
      await reader.cancel()

      await receivers[3]!.close()
      for (let number = 0; number < 20; number++) {
        expect((await two!('POST', '/logs/mail', { ...log, message: `later ${number}` })).status).toBe(201)
      }
    })
  },
)
