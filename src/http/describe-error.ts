/** What an error of a connection says, in words; the code where it says nothing. */
export function describeError(error: Error & { code?: string }): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((each) => describeError(each)).join('; ')
  return error.message === '' ? (error.code ?? error.name) : error.message
}
