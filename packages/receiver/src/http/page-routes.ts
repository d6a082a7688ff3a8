import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Access, AccessRefusal } from './access.js'
import { paragraph, signInForm } from './sign-in-form.js'

const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const headers = {
  'content-security-policy': contentPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/**
 * The page and its files. Without a session it asks for a key, which opens one. `GET /?token=…` turns a token into a session, once.
 *
 * @param web folder of the built page: `index.html`, files whose names change with their content, and the style of the form
 */
export async function pageRoutes(
  app: FastifyInstance,
  { access, web }: { readonly access: Access; readonly web: URL },
): Promise<void> {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers)
  })
  app.addHook('onRoute', (route) => {
    route.schema = { hide: true }
    const access = route.url.startsWith('/assets/') ? 'page' : 'own'
    route.config = { ...route.config, access, scope: 'read', bound: 'open' }
  })
  await app.register(fastifyStatic, {
    root: fileURLToPath(web),
    prefix: '/assets/',
    index: false,
    immutable: true,
    maxAge: yearMs,
    decorateReply: false,
    // The page itself is at `/` only, where it is never kept.
    allowedPath: (path) => !path.endsWith('.html'),
  })
  app.addContentTypeParser<string>('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, new URLSearchParams(body)),
  )

  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    // A HEAD request comes from a program that looks at links. It must not use the token.
    const { token } = request.method === 'GET' ? request.query : {}
    const hasToken = typeof token === 'string'
    const refusal = hasToken ? undefined : access.refusal(request, 'read')
    if (refusal === undefined && !hasToken) return sendFile(reply, new URL('index.html', web))
    // A form under a name that does not count would take a key for nothing.
    const left = access.foreign(request) ?? refusal
    if (left?.status === 403) return sendHtml(reply, { status: 403, html: paragraph(left.message) })
    if (!hasToken) return askForKey(reply)
    if (access.hasSession(request) || (await access.beginSession(token, reply))) return sendToPage(reply)
    return askForKey(reply, { status: 401, message: usedAddress })
  })

  app.post<{ Body: URLSearchParams | undefined }>('/', { bodyLimit: maxFormBytes }, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    const foreign = access.foreign(request)
    if (foreign !== undefined) return sendHtml(reply, { status: 403, html: paragraph(foreign.message) })
    const key = request.body instanceof URLSearchParams ? (request.body.get('key') ?? '') : ''
    const refusal = await access.signIn(key.trim(), reply)
    return refusal === undefined ? sendToPage(reply) : askForKey(reply, refusal)
  })

  app.get('/sign-in.css', (_request, reply) => {
    reply.header('cache-control', 'no-cache')
    return sendFile(reply, new URL('sign-in.css', web))
  })
}

async function sendFile(reply: FastifyReply, file: URL): Promise<FastifyReply> {
  try {
    const type = file.pathname.endsWith('.css') ? 'text/css' : 'text/html'
    return reply.type(`${type}; charset=utf-8`).send(await readFile(file))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return sendHtml(reply, { status: 404, html: paragraph('The page is not built: run npm run build.') })
  }
}

/** The form, with the reason why it is there again. */
function askForKey(reply: FastifyReply, refusal?: AccessRefusal): FastifyReply {
  // Without a referrer a browser would not say whose form it sends.
  reply.header('referrer-policy', 'same-origin')
  return sendHtml(reply, { status: refusal?.status ?? 401, html: signInForm(refusal?.message) })
}

function sendHtml(
  reply: FastifyReply,
  { status, html }: { readonly status: number; readonly html: string },
): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(html)
}

/** The rest of the query is a view of the page. */
function sendToPage(reply: FastifyReply): FastifyReply {
  const [, written] = reply.request.url.split(/\?(.*)/s)
  const query = new URLSearchParams(written)
  query.delete('token')
  return reply
    .code(303)
    .header('location', query.size === 0 ? '/' : `/?${query}`)
    .send()
}

const usedAddress =
  'This address has opened a browser already, or is too old. "sluice-receiver page" prints a new one; a key opens the page, too.'
/** A key has 47 characters. */
const maxFormBytes = 4096
const yearMs = 365 * 24 * 60 * 60 * 1000
