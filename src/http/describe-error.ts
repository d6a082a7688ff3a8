import { textOf } from '../errors/text-of.js'

/** The words of an error of a connection, on one line; its code where it says nothing. Never throws, whatever was thrown. */
export function describeError(error: unknown): string {
  try {
    return error instanceof Error ? wordsOf(error) : textOf(error)
  } catch {
    return textOf(error)
  }
}

const maxErrors = 10

function wordsOf(error: Error & { code?: unknown; reason?: unknown }): string {
  // Errors of several addresses of a host; what holds such an error again may hold itself.
  if (error instanceof AggregateError && error.message === '')
    return error.errors
      .slice(0, maxErrors)
      .map((each) => (each instanceof AggregateError ? textOf(each.name) : describeError(each)))
      .join('; ')
  const { code, reason, name, message } = error
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'what answers there does not speak TLS; is it http:?'
  // OpenSSL's message has a thread's number and a line of its source in it.
  if (typeof code === 'string' && code.startsWith('ERR_SSL_') && reason !== undefined)
    return `TLS: ${textOf(reason)} (${code})`
  const words = textOf(message)
    .replace(/ - Local \(undefined:undefined\)/, '')
    .trim()
  return words === '' ? textOf(code ?? name) : words
}
