import { snippets } from '../../src/snippets.js'

/** The variables of a project, as a snippet names them. */
export interface Address {
  readonly url: string
  readonly apiKey: string
  readonly bucket: string
}

export const snippetNames = ['pino', 'winston', 'track', 'curl'] as const
export type SnippetName = (typeof snippetNames)[number]

/** A program that sends a record to this address. */
export function snippetOf(name: SnippetName, address: Address): string {
  return name === 'curl' ? curl(address) : `${variables(address)}\n\n${snippets[name]}`
}

function variables({ url, apiKey, bucket }: Address): string {
  return ['with these variables:', `SLUICE_URL=${url}`, `SLUICE_API_KEY=${apiKey}`, `SLUICE_BUCKET=${bucket}`]
    .map((line) => `// ${line}`)
    .join('\n')
}

function curl({ url, apiKey, bucket }: Address): string {
  const record = `{"timeStamp":'$(date +%s)000',"level":"info","message":"order placed","appName":"shop"}`
  return `curl ${url}/logs/${bucket} \\
  -H 'x-api-key: ${apiKey}' -H 'content-type: application/json' \\
  -d '${record}'`
}
