import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

export const root = join(import.meta.dirname, '../..')
const src = join(root, 'src')

/** The files of `src`, with paths below it. */
export const sourceFiles = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .sort()

export function readSource(file: string): string {
  return readFileSync(join(src, file), 'utf8')
}

/** The files of `src` that a file imports, types included. */
export function importsOf(file: string): string[] {
  const specifiers = [...readSource(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, name]) => name!)
  return specifiers.map((name) => relative(src, join(src, dirname(file), name)).replace(/\.js$/, '.ts'))
}
