/** Servers of one database. One of them takes writes. */
export interface DatabaseServers {
  /** One URL for each server, in the order in which they were written. */
  readonly urls: readonly string[]
  /** Host and port of each server and the name of the database, without user and password. */
  readonly name: string
}

const modes = new Set(['read-write', 'primary', 'any'])

/**
 * Reads `postgres://user:password@a:5432,b:5432/database?target_session_attrs=read-write`. All parameters but `target_session_attrs` go to each
 * server, `sslmode` among them. The server that takes writes is looked for in any case.
 *
 * @throws {TypeError} for a URL of another kind. The message has neither user nor password.
 */
export function readDatabaseUrl(url: string): DatabaseServers {
  const [, scheme, login = '', hosts = '', rest = ''] = /^([a-z]+):\/\/(?:([^/]*)@)?([^/?]*)(.*)$/s.exec(url) ?? []
  if (scheme !== 'postgres' && scheme !== 'postgresql') {
    throw new TypeError('expected a URL such as postgres://user:password@host:5432/database')
  }
  const [path = '', query = ''] = rest.split('?')
  const parameters = new URLSearchParams(query)
  const mode = parameters.get('target_session_attrs') ?? 'any'
  if (!modes.has(mode)) {
    throw new TypeError(
      `expected target_session_attrs to be read-write or primary, got "${mode}": records must be written`,
    )
  }
  parameters.delete('target_session_attrs')
  const ending = `${path}${parameters.size === 0 ? '' : `?${parameters}`}`
  const urls = hosts.split(',').map((host) => `${scheme}://${login === '' ? '' : `${login}@`}${host}${ending}`)
  for (const each of urls) {
    if (!URL.canParse(each)) throw new TypeError('expected host, host:port or several of them with commas between them')
  }
  return { urls, name: `${hosts}${path}` }
}
