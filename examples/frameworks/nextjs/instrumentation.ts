// Next.js calls this once when the server starts, in each of its runtimes.
export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { logger } = await import('./logger')
  logger.info('server started')
}

/** An error that nothing else caught: of a page, a route handler, a server action. */
export async function onRequestError(error: unknown, request: { path: string; method: string }) {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { logger } = await import('./logger')
  logger.error({ err: error, method: request.method, path: request.path }, 'request failed')
}
