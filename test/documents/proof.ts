import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './markdown.js'

/** A test that proves a sentence of a document. */
export interface Proof {
  /** Path from the root of the repository. */
  readonly file: string
  /** Title as the file writes it. */
  readonly title: string
}

/** True when the file has a test or a suite with this title that is not skipped. */
export function isThere({ file, title }: Proof): boolean {
  const path = join(root, file)
  if (!existsSync(path)) return false
  const source = readFileSync(path, 'utf8')
  const at = source.indexOf(`'${title}'`)
  const call = source
    .slice(0, at)
    .match(/\b(?:it|describe)(?:\.\w+)*(?=[(<])/g)
    ?.at(-1)
  return at !== -1 && call !== undefined && !/\.(skip|todo)$/.test(call)
}
