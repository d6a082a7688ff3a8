import type { Summary } from '../../../../src/cli/output.js'
import type { Progress } from '../../../../src/cli/progress.js'
import type { ContentService } from '../../../../src/content/content-service.js'
import type { ContentTypeInfo } from '../../../../src/content/content-type.js'
import { typeList } from '../../../../src/content/content-type.js'
import { counted } from '../../../../src/errors/counted.js'
import { nearestName } from '../../../../src/options/nearest-name.js'
import type { Line } from '../line-splitter.js'
import { type EntryLine, readEntry, violations } from './entry.js'
import type { RejectsFile } from './rejects-file.js'

/** The number of lines, and of those that are not valid; or why no line could arrive. */
export type CheckOutcome = { readonly lines: number; readonly invalid: number } | { readonly impossible: string }

export interface CheckPlan {
  readonly service: ContentService
  readonly project: string
  readonly type: string
  readonly rejects: RejectsFile
  readonly progress: Progress
}

/**
 * Check every line against the schema of its content type.
 *
 * @throws {ApiError} when the content types cannot be listed
 */
export async function checkLines(
  lines: AsyncIterable<Line>,
  { service, project, type, rejects, progress }: CheckPlan,
): Promise<CheckOutcome> {
  const found = await findType(service, { project, type })
  if (typeof found === 'string') return { impossible: found }
  const count = { lines: 0, invalid: 0 }
  const types = new Map<string, ContentTypeInfo | string>([[type, found]])
  const typeOf = async (key: string): Promise<ContentTypeInfo | string> => {
    const known = types.get(key) ?? (await findType(service, { project, type: key }))
    types.set(key, known)
    return known
  }
  for await (const line of lines) {
    const entry = readEntry(line)
    progress.advance(line.size)
    if (entry.type === 'blank') continue
    count.lines++
    const reasons =
      entry.type === 'invalid' ? entry.reasons : complaints(entry, await typeOf(entry.contentTypeKey ?? type))
    if (reasons.length === 0) continue
    count.invalid++
    await rejects.add(line, { reasons })
  }
  return count
}

function complaints({ fields }: EntryLine & { type: 'entry' }, type: ContentTypeInfo | string): readonly string[] {
  return typeof type === 'string' ? [`contentTypeKey: ${type}`] : violations(fields, type.schema)
}

/** The content type with this key or id, or a message why it cannot get entries. */
async function findType(
  service: ContentService,
  { project, type }: { project: string; type: string },
): Promise<ContentTypeInfo | string> {
  const keys: string[] = []
  for await (const each of typeList((bounds) => service.types(project, { ...bounds, signal: undefined }))) {
    if (each.key === type || each.id === type) {
      return each.isActive === false ? `content type ${type} of ${project} is archived` : each
    }
    keys.push(each.key)
  }
  const nearest = nearestName(type, keys)
  return `there is no content type ${type} in ${project}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
}

export function checkSummary(
  { lines, invalid }: { readonly lines: number; readonly invalid: number },
  rejects: Pick<RejectsFile, 'path' | 'lines'>,
): Summary {
  return {
    ok: invalid === 0,
    facts: { lines, invalid, rejects: invalid === 0 ? null : rejects.path },
    lines: [
      `${lines - invalid} of ${counted(lines, 'line')} ${lines === 1 ? 'is' : 'are'} valid; nothing was sent`,
      invalid > 0 && `${invalid} ${invalid === 1 ? 'is' : 'are'} not, see ${rejects.path}`,
      ...rejects.lines,
    ],
  }
}
