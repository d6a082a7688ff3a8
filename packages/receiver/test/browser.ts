import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Receiver } from 'sluice-receiver'

export interface BrowserRequest {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends a request with exactly these headers, `host` and `origin` included, and returns the head of the answer. */
export async function ask(
  url: string,
  { method = 'GET', path = '/', headers = {}, body }: BrowserRequest = {},
): Promise<IncomingMessage> {
  const sent = request(new URL(path, url), { method, headers, agent: false })
  sent.end(body)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return answer
}

/** The same, and the body. */
export async function visit(url: string, wanted: BrowserRequest = {}) {
  const answer = await ask(url, wanted)
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
}

/** Opens the address of the page as a browser does, and returns the headers with which it then asks. */
export async function openPage({ url, page }: Pick<Receiver, 'url' | 'page'>): Promise<{ cookie: string }> {
  const { pathname, search } = new URL(page)
  const { headers } = await visit(url, { path: `${pathname}${search}` })
  return { cookie: cookieOf(headers) }
}

/** Sends the form that asks for a key, as a browser does. */
export function signIn(url: string, key: string, headers: Readonly<Record<string, string>> = {}) {
  return visit(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(url).origin, ...headers },
    body: `${new URLSearchParams({ key })}`,
  })
}

/** The session that an answer has set. */
export function cookieOf(headers: IncomingHttpHeaders): string {
  return headers['set-cookie']![0]!.split(';')[0]!
}
