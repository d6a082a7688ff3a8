/** A request that was refused, as the page shows it. */
export interface RejectedRequest {
  readonly id: number
  /** ISO 8601 UTC. */
  readonly at: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly reason: string
  /** Beginning of the body, at most 4,096 characters. */
  readonly body: string
  readonly appName?: string
  readonly userAgent: string
  readonly remote: string
}

/** Most characters of a body. */
export const maxBodyCharacters = 4096
/** As many bytes as that many characters of UTF-8 can have. */
export const maxBodyBytes = 4 * maxBodyCharacters
/** Most characters of any other text. */
const maxCharacters = 1000
const maxRequests = 200
const maxBytes = 1_048_576

interface NewRejection extends Omit<RejectedRequest, 'id' | 'body' | 'appName'>, Pick<Kept, 'project'> {
  readonly body: Buffer
}

interface Kept {
  readonly request: RejectedRequest
  readonly bytes: number
  /** The project that its path names. */
  readonly project: string | undefined
}

/** The last requests that were refused, in memory: at most 200, and at most 1 MiB of text. */
export class RejectedRequests {
  /** Oldest first. */
  readonly #requests: Kept[] = []
  #bytes = 0
  #lastId = 0

  /** @param body bytes of the body, as many as are known */
  add({ body, project, ...facts }: NewRejection): void {
    const text = beginning(body.toString('utf8', 0, maxBodyBytes), maxBodyCharacters)
    const appName = appNameIn(text)
    const request: RejectedRequest = {
      id: ++this.#lastId,
      ...facts,
      path: beginning(facts.path),
      reason: beginning(facts.reason),
      body: text,
      ...(appName === undefined ? {} : { appName: beginning(appName) }),
      userAgent: beginning(facts.userAgent),
    }
    const bytes = Buffer.byteLength(JSON.stringify(request))
    this.#requests.push({ request, bytes, project })
    this.#bytes += bytes
    while (this.#requests.length > maxRequests || this.#bytes > maxBytes) this.#bytes -= this.#requests.shift()!.bytes
  }

  /** All since the start, also those that are no longer kept. */
  get count(): number {
    return this.#lastId
  }

  /** Newest first. @param projects only those whose paths name one of these; null for all */
  list(projects: ReadonlySet<string> | null): RejectedRequest[] {
    const listed = this.#requests.filter(({ project }) => projects === null || projects.has(project ?? ''))
    return listed.map(({ request }) => request).reverse()
  }
}

/** A copy: a slice would keep the whole text in memory. */
function beginning(text: string, characters = maxCharacters): string {
  return Buffer.from(text.slice(0, characters)).toString()
}

/** The body may be cut or not be JSON at all, so it is not parsed. */
function appNameIn(body: string): string | undefined {
  const written = /"appName"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(body)?.[1]
  try {
    return written === undefined ? undefined : String(JSON.parse(written))
  } catch {
    return undefined
  }
}
