import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * A declaration, with the comment above it and its name. An import or export has links instead: what it imports or exports, as it is written, in
 * the other file, and here. `from` is the path of the other file, if it is ours.
 *
 * @typedef {{ readonly text: string, readonly theirs: string, readonly ours: string }} Link
 * @typedef {{ readonly text: string, readonly code: string, readonly name?: string, readonly links?: readonly Link[], readonly from?: string }} Statement
 */

const statement = /(?:^\/\*\*.*?\*\/\n)?(^(?:export|import|declare|interface|type)\b[^\n]*\n(?:[ \t})\]][^\n]*\n)*)/gms
const linking = /^(import|export)( type)? (?:\{ (.*?),? \}|(\w+)) from '(.*)';\n$/
const declaring = /^(?:export )?(?:declare )?(?:abstract )?(?:class|const|function|interface|type) ([\w$]+)/
const comment = /^[ \t]*\/\*\*.*?\*\/\n/gms
const marksModule = 'export {};\n'

/**
 * The types that entries export, and those that they mention. Where no entry exports anything of a file, it has no comments. TypeScript writes the first line of a statement from the first column on and indents
 * the rest: this knows no more of the syntax.
 *
 * @param {readonly string[]} entries the paths of their files of types
 * @returns {Map<string, string>} texts by path
 * @throws {Error} for a statement that this cannot read
 */
export function neededTypes(entries) {
  /** @type {Map<string, { readonly statements: readonly Statement[], readonly needed: Set<string>, readonly shown: Set<string> }>} */
  const files = new Map()
  for (const path of entries) {
    for (const { code, name = '', links } of fileAt(path).statements) {
      if (!code.startsWith('export')) continue
      for (const { ours } of links ?? [{ ours: name }]) need(path, ours, true)
    }
  }
  // The types of the options take their comments from the tables.
  const isTable = (/** @type {string} */ path) => /options[\\/](table|client-options)\.d\.ts$/.test(path)
  return new Map(
    [...files].map(([path, { statements, needed, shown }]) => [
      path,
      textOf(statements, needed, isTable(path) ? needed : shown),
    ]),
  )

  /** @param {string} path */
  function fileAt(path) {
    const file = files.get(path) ?? { statements: statementsOf(path), needed: new Set(), shown: new Set() }
    files.set(path, file)
    return file
  }

  /**
   * @param {string} path
   * @param {string} name
   * @param {boolean} [isShown] true where an entry exports it
   */
  function need(path, name, isShown = false) {
    const { statements, needed, shown } = fileAt(path)
    if ((isShown ? shown : needed).has(name)) return
    const used = statements.filter((each) => each.name === name || each.links?.some(({ ours }) => ours === name))
    if (used.length === 0) return
    needed.add(name)
    if (isShown) shown.add(name)
    for (const { code, links, from } of used) {
      const link = links?.find(({ ours }) => ours === name)
      for (const [, from = '', theirs = ''] of code.matchAll(/import\("(\..*?)"\)\.(\w+)/g))
        need(join(dirname(path), from.replace(/\.js$/, '.d.ts')), theirs)
      if (link === undefined) for (const [word] of code.replaceAll(comment, '').matchAll(/[\w$]+/g)) need(path, word)
      else if (from !== undefined) need(from, link.theirs, isShown)
    }
  }
}

/**
 * @param {string} path
 * @returns {readonly Statement[]}
 */
function statementsOf(path) {
  const whole = readFileSync(path, 'utf8')
  const statements = [...whole.matchAll(statement)].map(([text, code = '']) => {
    const name = declaring.exec(code)?.[1]
    if (name !== undefined) return { text, code, name }
    const [, , , list, single, from = ''] = linking.exec(code) ?? []
    const links = (list ?? `default as ${single}`).split(', ').map((link) => {
      const [theirs = '', ours = theirs] = link.replace(/^type /, '').split(' as ')
      return { text: link, theirs, ours }
    })
    if (from === '' && code !== marksModule) throw new Error(`scripts/types.js cannot read in ${path}: ${code}`)
    if (from === '') return { text, code }
    return {
      text,
      code,
      links,
      ...(from.startsWith('.') ? { from: join(dirname(path), from.replace(/\.js$/, '.d.ts')) } : {}),
    }
  })
  if (statements.map(({ text }) => text).join('') !== whole)
    throw new Error(`scripts/types.js cannot read all of ${path}`)
  return statements
}

/**
 * @param {readonly Statement[]} statements
 * @param {ReadonlySet<string>} needed
 * @param {ReadonlySet<string>} shown
 */
function textOf(statements, needed, shown) {
  const texts = statements.map(({ text, code, name, links }) => {
    if (name !== undefined) return needed.has(name) ? text : ''
    const kept = links?.filter(({ ours }) => needed.has(ours)) ?? []
    if (kept.length === (links ?? []).length) return text
    const list = kept.map((link) => link.text).join(', ')
    return list === '' ? '' : code.replace(/\{.*\}/, `{ ${list} }`)
  })
  const text = texts.join('')
  return (shown.size > 0 ? text : text.replaceAll(comment, '')).replaceAll(/^ {4,}/gm, (indent) =>
    '\t'.repeat(indent.length / 4),
  )
}
