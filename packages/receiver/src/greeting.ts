import type { Options } from './options/option-table.js'
import type { Receiver } from './receiver.js'
import { readDatabaseUrl } from './storage/postgres/database-url.js'

/** The text that a person reads when the receiver is ready: the page, the new key, if there is one, and the variables to set. */
export function greeting({
  url,
  project,
  apiKey,
  page,
  data,
  database,
}: Omit<Receiver, 'close'> & Pick<Options, 'data' | 'database'>): string {
  const place =
    database !== undefined
      ? `in the database ${readDatabaseUrl(database).name}`
      : data === ':memory:'
        ? 'in memory: nothing is kept'
        : `in ${data}`
  const ready = `sluice-receiver is ready at ${url} (data ${place})\nSee the records arrive (the address opens one browser): ${page}\n`
  if (apiKey === null) return `${ready}Project ${project}. Lost the key? Start with --new-key to make another.\n`
  return `${ready}
Project ${project}, with a new API key. It is shown only now:

  ${apiKey}

Paste this where your application starts:

  export SLUICE_URL=${url}
  export SLUICE_API_KEY=${apiKey}
  export SLUICE_BUCKET=${project}
`
}
