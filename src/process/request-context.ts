/** The global of Vercel, which its functions and their packages read. */
const vercel = Symbol.for('@vercel/request-context')
/** The global that Next.js asks a platform to provide, for its `after`. */
const next = Symbol.for('@next/request-context')

/** The request that is served, as a platform describes it. */
export interface RequestContext {
  readonly waitUntil: (promise: Promise<void>) => unknown
}

/** Gives the context of the request in whose asynchronous context it is called. */
interface ContextProvider {
  readonly get?: () => Partial<RequestContext> | undefined
}

const platform = globalThis as { readonly [vercel]?: ContextProvider; readonly [next]?: ContextProvider }

/**
 * True on a platform that describes its requests.
 *
 * @throws whatever the platform throws
 */
export function hasRequestContexts(): boolean {
  return platform[vercel] !== undefined || platform[next] !== undefined
}

/**
 * The context of the request that is served now, if there is one that can wait. It may be a new object at each call.
 *
 * @throws whatever the platform throws
 */
export function requestContext(): RequestContext | undefined {
  return waiting(platform[vercel]?.get?.()) ?? waiting(platform[next]?.get?.())
}

function waiting(context: Partial<RequestContext> | undefined): RequestContext | undefined {
  // A promise is no context. One that rejects must not end the process because we asked.
  if (context instanceof Promise) context.catch(() => {})
  return typeof context?.waitUntil === 'function' ? (context as RequestContext) : undefined
}
