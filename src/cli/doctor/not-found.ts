import { joinedComplaints, readComplaints, readObject } from '../../http/answer-body.js'
import { maxBodyBytes, recordPath, requestHeaders } from '../../http/request-head.js'
import { UndiciPool } from '../../http/undici-pool.js'
import type { ResolvedOptions } from '../../options/options.js'
import type { RecordKind } from '../../records/wire.js'
import { systemLoop } from '../../runtime/loop.js'
import { userAgent } from '../../runtime/version.js'
import { inTime } from './deadline.js'
import type { CheckPlan } from './network-checks.js'

/**
 * The cause of a 404: the bucket, or the URL. `hint` is the service's own, such as `did you mean demo?`. `elsewhere` is the URL at which the API
 * answers, where it is one above.
 */
export type NotFound =
  | { readonly wrong: 'bucket'; readonly hint?: string | undefined }
  | { readonly wrong: 'url'; readonly elsewhere?: string | undefined }

export interface NotFoundPlan extends CheckPlan {
  readonly options: ResolvedOptions
  readonly kind: RecordKind
  readonly bucket: string
}

/** The receiver names the nearest bucket. */
const hintOfReceiver = /(?<=; )did you mean [\w.-]+\?$/

/** No operation of any API. */
const noOperation = 'no-such-operation-of-sluice-doctor'

/**
 * Finds out why the path of a bucket gets a 404. A path that no service has gets the same answer where the URL is wrong, and another one where
 * the bucket is unknown. Undefined where a service answers both alike. Nothing is stored: the requests have no record.
 */
export async function causeOf404({ options, route, ms, kind, bucket }: NotFoundPlan): Promise<NotFound | undefined> {
  const base = new URL(options.url)
  const { origin } = base
  const pool = new UndiciPool({
    origin,
    maxConnections: 1,
    requestTimeoutMs: ms,
    maxBodyBytes,
    loop: systemLoop,
    proxyUrl: route.proxyUrl,
  })
  const withKey = requestHeaders({ apiKey: options.apiKey.reveal(), userAgent })
  const { 'x-api-key': _, ...keyless } = withKey
  const ask = async (path: string, headers: Record<string, string>): Promise<Sight | undefined> => {
    const asked = await inTime(() => pool.exchange({ method: 'POST', path, headers, body: '{}' }), { ms: 2 * ms + 100 })
    if (asked.type === 'late' || asked.result.type === 'broken') return undefined
    const { status, body } = asked.result.answer
    return sightOf(status, { body, path })
  }
  try {
    for (const above of urlsAbove(base)) {
      const sight = await ask(recordPath(above, kind, bucket), withKey)
      if (sight?.isOfApi) return { wrong: 'url', elsewhere: above.href.replace(/\/+$/, '') }
    }
    const path = recordPath(base, kind, bucket)
    const nowhere = path.replace(/[^/]+\/[^/]+$/, `${noOperation}/${encodeURIComponent(bucket)}`)
    for (const headers of [withKey, keyless]) {
      const [here, there] = [await ask(path, headers), await ask(nowhere, headers)]
      if (here === undefined || there === undefined) return undefined
      if (here.text !== there.text) return { wrong: 'bucket', hint: hintOfReceiver.exec(here.text)?.[0] }
      if (here.namesPath) return { wrong: 'url' }
    }
    return undefined
  } finally {
    await pool.destroy()
  }
}

/** What an answer shows. */
interface Sight {
  /** Status and words, with a sign in place of the path. */
  readonly text: string
  /** The words name the path, as a server does that does not know it. */
  readonly namesPath: boolean
  /** The operation is there: it refuses the empty record, or the key. */
  readonly isOfApi: boolean
}

function sightOf(status: number, { body, path }: { readonly body: string; readonly path: string }): Sight {
  const answer = readObject(body)
  const words = answer === undefined ? body : joinedComplaints(readComplaints(answer))
  return {
    text: `${status} ${words.replaceAll(path, '…')}`,
    namesPath: words.includes(path),
    isOfApi: [400, 401, 403, 412, 422, 429].includes(status) && (answer !== undefined || body === ''),
  }
}

/** The URLs with a shorter path, the longest first. */
function urlsAbove(base: URL): URL[] {
  const names = base.pathname.split('/').filter((name) => name !== '')
  return names.map((_, index) => new URL(`/${names.slice(0, names.length - 1 - index).join('/')}`, base.origin))
}
