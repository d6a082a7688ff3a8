import { Type } from '@sinclair/typebox'
import { Answer } from './answer.js'
import { limitOf, parameters, queryOf } from './parameters.js'
import { hintLine, pageOf, recordLine } from './record-line.js'
import { tool } from './tool.js'

const description = `Search the log records, newest first. One line each: ID TIME LEVEL APP[/ENV] [VERSION] "message".

q has words and conditions; all must hold:
  checkout failed       all words of the message      "card declined"    words side by side
  check*                the beginning of a word       -health            not this
  level:error  level>=warn  app:shop  env:prod  host:web-1  version:1.4.2  event:1004
  reqId:req-21c  req.method:POST  res.statusCode>=500   any field of the context;  user.id:*  it is there
  since:1h  until:2026-01-31T12:00Z  error:ID   a OR b, parentheses, NOT
Values are exact, * at their end is a prefix; quote a value with spaces.
To follow one request: search for its id, such as reqId:req-21c.
The last line is "cursor: …" where there is more, else "end".`

export const searchLogs = tool({
  name: 'search_logs',
  title: 'Search logs',
  description,
  input: Type.Object({ q: parameters.q, limit: limitOf(50, 200), cursor: parameters.cursor }),
  reads: 'logs',
  async answer({ q, limit = 50, cursor }, { ask, bucket }) {
    const answer = new Answer('Log records, newest first:')
    let before = cursor
    let left = limit
    let hint: string | undefined
    const untilMs = performance.now() + maxMs
    while (left > 0) {
      const asked = Math.min(left, pageRecords)
      const page = pageOf(await ask(`/api/logs/${bucket}${queryOf({ q, limit: asked, before })}`))
      for (const record of page.list) {
        if (!answer.add(recordLine(record, maxMessageBytes))) return answer.text(before)
        before = String(record.id)
        left--
      }
      const { next, incomplete, list } = page
      hint ??= page.hint
      if (incomplete === true && next !== undefined && performance.now() > untilMs) {
        return answer.text(next, cutShort(next), hintLine(hint))
      }
      if (next === undefined && list.length < asked) return answer.text(undefined, hintLine(hint))
      if (next !== undefined) before = String(next)
    }
    return answer.text(before)
  },
})

function cutShort(next: number): string {
  return `The search took too long and has not looked at records older than ID ${next}: go on with the cursor, or narrow q, for example by since:1h.`
}

/** As many as one answer shows, about. A page of the API has up to 1 MiB a record. */
const pageRecords = 25
const maxMessageBytes = 400
/** The API cuts a search that takes long, and goes on when it is asked again. */
const maxMs = 8000
