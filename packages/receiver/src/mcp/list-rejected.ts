import { Type } from '@sinclair/typebox'
import type { RejectedRequest } from '../http/rejected-requests.js'
import { Answer } from './answer.js'
import { limitOf, parameters } from './parameters.js'
import { named, quoted } from './quoted-data.js'
import { tool } from './tool.js'

const description = `List the requests of applications that the receiver has refused, newest first: why records do not arrive, such as a wrong key, a wrong bucket or a field that is not valid.
The last 200 of this start are known.`

export const listRejected = tool({
  name: 'list_rejected',
  title: 'List rejected requests',
  description,
  input: Type.Object({ limit: limitOf(50, 200), cursor: parameters.cursor }),
  async answer({ limit = 50, cursor }, { ask }) {
    const { items } = (await ask('/api/rejected')) as object as { readonly items: readonly RejectedRequest[] }
    const left = items.filter(({ id }) => cursor === undefined || id < Number(cursor))
    const answer = new Answer('Requests that were refused, newest first:')
    let last = cursor
    for (const request of left.slice(0, limit)) {
      if (!answer.add(lineOf(request))) return answer.text(last)
      last = String(request.id)
    }
    return answer.text(left.length > limit ? last : undefined)
  },
})

function lineOf({ id, at, method, path, status, reason, body, appName, userAgent }: RejectedRequest): string {
  const parts = [
    `${id} ${at} ${status} ${named(method)} ${quoted(path, maxBytes)}`,
    `reason ${quoted(reason, maxBytes)}`,
    ...(appName === undefined ? [] : [`app ${named(appName)}`]),
    ...(userAgent === '' ? [] : [`by ${quoted(userAgent, maxNameBytes)}`]),
    ...(body === '' ? [] : [`body ${quoted(body, maxBytes)}`]),
  ]
  return parts.join('; ')
}

const maxBytes = 200
const maxNameBytes = 60
