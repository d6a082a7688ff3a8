import { randomUUID } from 'node:crypto'
import { maxBatch } from '../../delivery/batch.js'
import type { Carriage, Outcome, Sender } from '../../delivery/sender.js'
import { TextBatch } from '../../delivery/text-batch.js'
import { RecordWriter } from '../../engine/record-writer.js'
import { openSender } from '../../http/auto-sender.js'
import { recordFaults } from '../../http/classify.js'
import { maxBodyBytes, recordPath } from '../../http/request-head.js'
import { UndiciPool } from '../../http/undici-pool.js'
import type { ResolvedOptions } from '../../options/options.js'
import { ApiKey } from '../../options/secret.js'
import type { RecordKind } from '../../records/wire.js'
import { systemLoop } from '../../runtime/loop.js'
import { userAgent } from '../../runtime/version.js'
import { inTime } from './deadline.js'
import { bad, type Finding, good, skipped } from './finding.js'
import type { CheckPlan } from './network-checks.js'
import { causeOf404, type NotFound } from './not-found.js'

export interface DeliveryPlan extends CheckPlan {
  readonly options: ResolvedOptions
  /** True when an earlier answer of the server was plain, on a connection that it keeps. */
  readonly isPlain: boolean
}

/** The event of the test value record. Applications do not use this number. */
export const testEventId = 0
/** The message of the test log record, of level warn. */
export const testMessage = 'sluice doctor: a test'

const names = { logs: 'log record', values: 'value record' } as const

/**
 * Check the key and the buckets: send one log record and one value record with the sender of an application, then report which sender this
 * was.
 */
export async function* checkDelivery(plan: DeliveryPlan): AsyncGenerator<Finding> {
  const { options, route, ms } = plan
  let left: string | undefined
  const sender = openSender({
    url: options.url,
    apiKey: new ApiKey(options.apiKey),
    userAgent,
    maxConnections: 1,
    maxBatch,
    pipelining: options.pipelining,
    proxyUrl: route.proxyUrl,
    requestTimeoutMs: ms,
    loop: systemLoop,
    left: (reason) => {
      left = reason
    },
  })
  try {
    let delivered = false
    let first: Trouble | undefined
    for (const kind of ['logs', 'values'] as const) {
      const { finding, trouble } = await sendOne(kind, { ...plan, sender })
      delivered ||= finding.state === 'good'
      const isSame = trouble !== undefined && trouble.reason === first?.reason && trouble.place === first.place
      yield isSame ? skipped(names[kind], 'not delivered either, for the same reason') : finding
      first ??= trouble
    }
    yield delivered ? judge(sender, { ...plan, left }) : skipped('sender', 'unknown, because no record was delivered')
  } finally {
    await sender.close()
  }
}

/** The sender with which an application would begin, as far as this shows without sending a record. */
export function expectSender({ options, route, isPlain }: DeliveryPlan): Finding {
  const fixed = fixedSender({ options, route })
  if (fixed !== undefined) return fixed
  return skipped(
    'sender',
    isPlain
      ? 'pipelined for logs, once the service has answered a record as plainly as this request'
      : 'one request at a time on a connection, until the service shows that it takes several at once',
  )
}

/** Why a record of the check was not delivered. */
interface Trouble {
  readonly reason: string
  /** The bucket, where the trouble is about it alone. */
  readonly place: string
}

interface Attempt {
  readonly finding: Finding
  readonly trouble?: Trouble
}

async function sendOne(kind: RecordKind, plan: DeliveryPlan & { readonly sender: Sender }): Promise<Attempt> {
  const { options, sender, ms } = plan
  const check = names[kind]
  const bucket = kind === 'logs' ? options.logBucket : options.valueBucket
  if (bucket === undefined) return { finding: skipped(check, 'there is no bucket for it') }
  const writer = new RecordWriter(options)
  const body = kind === 'logs' ? writer.log(writer.warning(testMessage)) : writer.value(testEventId, Date.now())
  const record = { body, bytes: Buffer.byteLength(body), idempotencyKey: randomUUID() }
  const outcome = await inTime(
    () =>
      new Promise<Outcome>((resolve) => {
        sender.send(new TextBatch({ kind, bucket, records: [record], settle: (_index, settled) => resolve(settled) }))
      }),
    { ms: 2 * ms + 100 },
  )
  if (outcome.type === 'late') {
    const text = 'no answer in time'
    return {
      finding: bad(check, { text, advice: 'the service is slow, or SLUICE_REQUEST_TIMEOUT_MS is too short' }),
      trouble: { reason: text, place: '' },
    }
  }
  const { result } = outcome
  if (result.type === 'delivered') {
    const what =
      kind === 'logs' ? `a log record of level warn, "${testMessage}",` : `a value record, event ${testEventId},`
    return { finding: good(check, `${what} was written to bucket ${bucket} of ${options.url}`) }
  }
  const trouble = { reason: result.reason, place: result.type === 'pause' && result.scope === 'key' ? '' : bucket }
  if (result.type !== 'pause')
    return { finding: bad(check, { text: result.reason, advice: adviceFor(result) }), trouble }
  const base = new URL(options.url)
  const path = recordPath(base, kind, bucket)
  const request = `POST ${base.origin}${path}`
  // The reason of these has the words of a page already, and the remedy for them.
  const isExplained = isRedirect(result.status) || recordFaults.has(result.status)
  if (result.scope === 'lane' && !isExplained && (await answersPage(path, plan))) {
    const text = `not the service: a web page answers (${result.status}): ${request}`
    const advice = `check the URL, and for a login page or proxy: SLUICE_URL is the base URL of the API; ${waiting}`
    return { finding: bad(check, { text, advice }), trouble: { reason: 'a web page', place: '' } }
  }
  const cause = result.status === 404 ? await causeOf404({ ...plan, kind, bucket }) : undefined
  if (cause !== undefined) {
    const finding = notFound(cause, { request, kind, bucket })
    return { finding, trouble: cause.wrong === 'url' ? { reason: 'a wrong URL', place: '' } : trouble }
  }
  // The reason of a pause ends with the advice.
  const [, text, todo] = /^(.*); (.*)$/s.exec(result.reason) ?? ['', result.reason, 'see the answer of the service']
  const asked = result.scope === 'lane' ? `: ${request}` : ''
  return { finding: bad(check, { text: `${text}${asked}`, advice: `${todo}; ${waiting}` }), trouble }
}

const waiting = 'until then records wait in the queue'

function notFound(
  cause: NotFound,
  { request, kind, bucket }: { readonly request: string; readonly kind: RecordKind; readonly bucket: string },
): Finding {
  const check = names[kind]
  if (cause.wrong === 'bucket') {
    const own = kind === 'logs' ? 'SLUICE_LOG_BUCKET' : 'SLUICE_VALUE_BUCKET'
    const variable = process.env[own] === undefined ? 'SLUICE_BUCKET' : own
    const remedy = cause.hint === undefined ? `correct ${variable}` : `correct ${variable}: ${cause.hint}`
    const text = `the service has no bucket ${bucket} (404): ${request}`
    return bad(check, { text, advice: `${remedy}; the URL is right; ${waiting}` })
  }
  const text = `the URL is wrong: nothing takes records there (404): ${request}`
  const remedy = cause.elsewhere === undefined ? 'correct SLUICE_URL' : `set SLUICE_URL=${cause.elsewhere}`
  return bad(check, { text, advice: `${remedy}, the base URL of the API; ${waiting}` })
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400
}

/** True where a request without a key gets a web page, which no service of this API sends there. */
async function answersPage(path: string, { options, route, ms }: DeliveryPlan): Promise<boolean> {
  const { origin } = new URL(options.url)
  const plan = { origin, maxConnections: 1, requestTimeoutMs: ms, maxBodyBytes, loop: systemLoop }
  const pool = new UndiciPool({ ...plan, proxyUrl: route.proxyUrl })
  const headers = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': userAgent }
  try {
    const asked = await inTime(() => pool.exchange({ method: 'POST', path, headers, body: '{}' }), { ms: 2 * ms + 100 })
    if (asked.type === 'late' || asked.result.type === 'broken') return false
    return /^text\/html\b/i.test(String(asked.result.headers['content-type']))
  } finally {
    await pool.destroy()
  }
}

function adviceFor(outcome: Outcome): string {
  if (outcome.type === 'retry') return 'records wait and are sent again; if this stays so, the fault is in the service'
  return 'the service refuses the content of the record: check SLUICE_TIMESTAMP_UNIT, SLUICE_APP_NAME and SLUICE_ENV'
}

function judge(sender: Sender, plan: DeliveryPlan & { readonly left: string | undefined }): Finding {
  const fixed = fixedSender(plan)
  if (fixed !== undefined) return fixed
  const [logs, values] = [sender.carriage('logs'), sender.carriage('values')]
  if (plan.left !== undefined) return good('sender', `${logs.sender}, one request at a time: ${plan.left}`)
  if (logs.maxDepth === 1) {
    return good(
      'sender',
      `${logs.sender}, one request at a time: the service does not keep its connections open, or not plainly`,
    )
  }
  const reason = 'because the service speaks plain HTTP/1.1 and keeps its connections open'
  return good('sender', `pipelined, ${reason}: logs ${depthText(logs)}, values ${depthText(values)}${whyNot(values)}`)
}

/** The finding where the options or the environment decide. */
function fixedSender({ options, route }: Pick<DeliveryPlan, 'options' | 'route'>): Finding | undefined {
  if (route.proxyUrl !== undefined) return good('sender', `undici, through the proxy of ${route.proxyVariable}`)
  return options.pipelining === 'off' ? good('sender', 'undici: SLUICE_PIPELINING is off') : undefined
}

function depthText({ maxDepth }: Carriage): string {
  return maxDepth === 1 ? 'one at a time' : `up to ${maxDepth} at once`
}

function whyNot({ maxDepth }: Carriage): string {
  return maxDepth === 1 ? ' (the service does not echo idempotency-key)' : ''
}
