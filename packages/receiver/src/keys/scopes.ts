/** The permissions of a key: to send records, to use content, to read, to manage projects and keys. */
export const scopes = ['ingest', 'content', 'read', 'admin'] as const
export type Scope = (typeof scopes)[number]

/** The scopes of a key for which none are named: an application needs no more. */
export const defaultScopes: readonly Scope[] = ['ingest']

export function isScope(text: string): text is Scope {
  return scopes.some((scope) => scope === text)
}
