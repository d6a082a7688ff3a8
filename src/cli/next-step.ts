import { peerText, Route } from './doctor/route.js'

/**
 * What to do where the service does not answer, for the end of a message.
 *
 * @param words those of the runtime about the failure
 * @param url of the service
 */
export function nextStep(words: string, url = process.env.SLUICE_URL ?? ''): string {
  const route = new Route(url, process.env)
  const doctor = 'see npx sluice doctor'
  if (/ENOTFOUND|EAI_AGAIN/.test(words)) return `check the name in ${route.proxyVariable ?? 'SLUICE_URL'}, or ${doctor}`
  if (!/ECONNREFUSED/.test(words)) return `check that the service runs, and SLUICE_URL, or ${doctor}`
  return route.isLocal ? howToStart(route) : `check that something listens at ${peerText(route.first)}, or ${doctor}`
}

/** The receiver listens there unless it is told otherwise. */
const receiverPort = 18_400

/** What to do where nothing listens on this machine. */
export function howToStart({ first: { port } }: Route): string {
  const option = port === receiverPort ? '' : ` --port ${port}`
  return `start a receiver with npx sluice-receiver${option}, or correct the port in SLUICE_URL`
}

/** The message of a request that failed, with the next step where no answer came. */
export function failureWords({ code, message }: { readonly code: string; readonly message: string }): string {
  return code === 'unsent' || code === 'no-answer' ? `${message}; ${nextStep(message)}` : message
}
