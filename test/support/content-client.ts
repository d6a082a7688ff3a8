import { createServer } from 'node:net'
import { ApiError, type ContentClient, type ContentOptions, contentType, createContentClient } from 'sluice/content'
import type { ContentFault } from './content-server.js'

export const article = contentType<{ title: string; body?: string }>('article')
export const hello = { type: article, fields: { title: 'Hello' } }

/** A client that waits for milliseconds where another waits for seconds. */
export function connectTo(options: ContentOptions, changes: ContentOptions = {}): ContentClient {
  return createContentClient({ retryBaseMs: 2, retryCapMs: 5, requestTimeoutMs: 2000, ...options, ...changes })
}

/** The error of an operation that must fail. */
export async function errorOf(operation: Promise<unknown>): Promise<ApiError> {
  const error = await operation.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  )
  if (error instanceof ApiError) return error
  throw error
}

/** Fault for the first requests, then none. */
export const atFirst =
  (...faults: ContentFault[]) =>
  ({ number }: { number: number }) =>
    faults[number]

/** A port without a listener. */
export async function closedPort(): Promise<number> {
  const listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as { port: number }
  await new Promise((resolve) => listener.close(resolve))
  return port
}
