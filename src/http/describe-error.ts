/** What an error of a connection says, in words on one line; the code where it says nothing. */
export function describeError(error: Error & { code?: string; reason?: string }): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((each) => describeError(each)).join('; ')
  const { code, reason, name, message } = error
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'what answers there does not speak TLS; is it http:?'
  // OpenSSL's message has a thread's number and a line of its source in it.
  if (code?.startsWith('ERR_SSL_') && reason !== undefined) return `TLS: ${reason} (${code})`
  const words = message.replace(/ - Local \(undefined:undefined\)/, '').trim()
  return words === '' ? (code ?? name) : words
}
