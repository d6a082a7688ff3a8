// pino without a worker of its own: for bundles, serverless functions and several streams. Run with SLUICE_URL, SLUICE_API_KEY and
// SLUICE_BUCKET set.
import pino from 'pino'
import { flush } from 'sluice'
import { sluicePino } from 'sluice/pino'

const stderr = { level: 'error', stream: process.stderr }
const logger = pino({}, pino.multistream([stderr, { stream: sluicePino() }]))

/** What a serverless function does at the end of an invocation, for it may be frozen when it has returned. */
export async function handler() {
  logger.info('invoked')
  await flush({ timeoutMs: 2000 })
}

await handler()
