/** Headers as undici gives them: names in lower case, those that came twice as a list. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

/** What an answer to the sure sender lets hope for of a server. */
export interface Sighting {
  /** The connection is kept, and the answer ends where its head says, in one of the two plain ways. */
  readonly plain: boolean
  /** The server echoes the idempotency key: it tells repetitions by it. */
  readonly echoes: boolean
}

/** What the head of a whole answer shows. The version of HTTP is not seen here: undici does not tell. */
export function sightingOf(
  { status, headers }: { readonly status: number; readonly headers: AnswerHeaders },
  idempotencyKey: string,
): Sighting {
  const { connection, 'content-length': length, 'transfer-encoding': coding } = headers
  const closes = [connection ?? []].flat().some((value) => /(^|,)\s*close\s*(,|$)/i.test(value))
  const counted = coding === undefined && typeof length === 'string' && /^\d+$/.test(length)
  const chunked = length === undefined && typeof coding === 'string' && coding.toLowerCase() === 'chunked'
  const bodiless = status === 204 && coding === undefined
  return { plain: !closes && (counted || chunked || bodiless), echoes: headers['idempotency-key'] === idempotencyKey }
}
