import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Access } from './access.js'

const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
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
 * The page and its files. `GET /?token=…` turns the token of the start into a session, once.
 *
 * @param web folder of the built page: `index.html`, and files whose names change with their content
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
    route.config = { ...route.config, access: route.url === '/' ? 'own' : 'page', scope: 'read', bound: 'open' }
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

  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    // A HEAD request comes from a program that looks at links. It must not use the token.
    const token = request.method === 'GET' ? request.query.token : undefined
    const refusal = typeof token === 'string' ? access.foreign(request) : access.refusal(request, 'read')
    if (refusal?.status === 403) return answer(reply, { status: 403, text: refusal.message })
    if (typeof token === 'string' && (access.hasSession(request) || (await access.beginSession(token, reply)))) {
      return reply.code(303).header('location', withoutToken(request.url)).send()
    }
    if (typeof token === 'string' || refusal !== undefined) return answer(reply, { status: 401, text: howToOpen })
    return sendPage(reply, web)
  })
}

async function sendPage(reply: FastifyReply, web: URL): Promise<FastifyReply> {
  try {
    return reply.type('text/html; charset=utf-8').send(await readFile(new URL('index.html', web)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return answer(reply, { status: 404, text: 'The page is not built: run npm run build.' })
  }
}

function answer(
  reply: FastifyReply,
  { status, text }: { readonly status: number; readonly text: string },
): FastifyReply {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const html = `<!doctype html>\n<html lang="en"><title>sluice-receiver</title><p>${escaped}</p></html>\n`
  return reply.code(status).type('text/html; charset=utf-8').send(html)
}

/** The rest of the query is a view of the page. */
function withoutToken(url: string): string {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1))
  query.delete('token')
  return query.size === 0 ? '/' : `/?${query}`
}

const howToOpen = 'Open the address that the receiver printed at its start. It opens one browser, once.'
const yearMs = 365 * 24 * 60 * 60 * 1000
