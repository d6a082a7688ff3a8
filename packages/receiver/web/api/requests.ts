import { signal } from '@preact/signals'

/** True once the receiver has refused the page's cookie. */
export const sessionOver = signal(false)

/** An answer other than 200 and 201. */
export class RequestError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'RequestError'
    this.status = status
  }
}

export interface RequestOptions {
  readonly method?: string
  /** It is sent as JSON. */
  readonly body?: object
  readonly signal?: AbortSignal | undefined
}

/**
 * Asks the receiver and reads the JSON of its answer.
 *
 * @throws {RequestError} when the receiver refuses
 */
export async function request<T>(path: string, { method = 'GET', body, signal }: RequestOptions = {}): Promise<T> {
  const response = await fetch(path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    ...(signal === undefined ? {} : { signal }),
  })
  noteSession(response.status)
  if (response.ok) return (await response.json()) as T
  const text = await response.text()
  throw new RequestError(response.status, refusalOf(text) ?? `the receiver answered ${response.status}`)
}

/** Remembers from a status whether the cookie is still good. */
export function noteSession(status: number): void {
  sessionOver.value = status === 401
}

/** True for the error of a request that the page itself has given up. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** What a caught error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function refusalOf(text: string): string | undefined {
  try {
    const { errors, validationErrors } = JSON.parse(text) as Record<
      'errors' | 'validationErrors',
      { message: string }[]
    >
    return [...(errors ?? []), ...(validationErrors ?? [])][0]?.message
  } catch {
    return undefined
  }
}
