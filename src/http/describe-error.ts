import { isError } from '../errors/is-error.js'
import { textOf } from '../errors/text-of.js'

/** The text of an error of a connection on one line, or its code where it has no text. It never throws, whatever was thrown. */
export function describeError(error: unknown): string {
  try {
    return isError(error) ? wordsOf(error) : textOf(error)
  } catch {
    return textOf(error)
  }
}

const maxErrors = 10

function wordsOf(error: Error & { code?: unknown; reason?: unknown }): string {
  // One error for each address of a host. An AggregateError inside may contain itself.
  if (isAggregate(error) && error.message === '')
    return error.errors
      .slice(0, maxErrors)
      .map((each) => (isAggregate(each) ? textOf(each.name) : describeError(each)))
      .join('; ')
  const { code, reason, name, message } = error
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'what answers there does not speak TLS; is it http:?'
  // The message of OpenSSL has the number of a thread and a line of source code.
  if (typeof code === 'string' && code.startsWith('ERR_SSL_') && reason !== undefined)
    return `TLS: ${textOf(reason)} (${code})`
  const words = textOf(message)
    .replace(/ - Local \(undefined:undefined\)/, '')
    .trim()
  return words === '' ? textOf(code ?? name) : words
}

/** Also one of another realm. */
function isAggregate(error: unknown): error is AggregateError {
  return isError(error) && Array.isArray((error as Partial<AggregateError>).errors)
}
