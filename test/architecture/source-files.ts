import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

export const root = join(import.meta.dirname, '../..')
const src = join(root, 'src')

/** The source files of a folder, with paths below it. */
export function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .sort()
}

/** The files of `src`. */
export const sourceFiles = filesOf(src)

export function readSource(file: string, folder = src): string {
  return readFileSync(join(folder, file), 'utf8')
}

/** The files that a file of a folder imports, types included, with paths below the folder. */
export function importsOf(file: string, folder = src): string[] {
  const specifiers = [...readSource(file, folder).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)]
  const paths = specifiers.map(([, name]) => join(folder, dirname(file), name!.replace(/\.js$/, '')))
  return paths.map((path) => relative(folder, `${path}${existsSync(`${path}.tsx`) ? '.tsx' : '.ts'}`))
}
