import { readFileSync, writeFileSync } from 'node:fs'
import {
  optionNames,
  optionTable as receiverTable,
  variableOf,
  writtenName,
} from '../packages/receiver/dist/options/option-table.js'
import { flag } from '../packages/receiver/dist/options/option-value.js'

// Prints the tables of options of docs/options.md, made from the comments of the tables in src/options, and that of the receiver's README, made
// from the table that its code runs on; `--write` puts them there.
const code = (/** @type {unknown} */ text) => `\`${text}\``

/** @typedef {{ readonly cells: readonly string[], readonly isRare: boolean }} Row */

/**
 * The rows of a table of the library: the comment above each option, and the variables that its call names.
 * @param {string} path
 * @returns {Row[]}
 */
function commentedRows(path) {
  const source = readFileSync(new URL(path, import.meta.url), 'utf8')
  const rows = source.matchAll(/^ {2}\/\*\*((?:(?!\*\/).)*)\*\/\n {2}(\w+): option\((.*?)\),?\n(?= {2}\/\*\*|\}\n)/gms)
  return [...rows].map(([, comment = '', name, call = '']) => {
    const text = comment
      .replaceAll(/^\s*\*/gm, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
    const [prose = '', ...tags] = text.split(/ (?=@)/)
    const tag = (/** @type {string} */ tag) => tags.find((each) => each.startsWith(`@${tag} `))?.slice(tag.length + 2)
    const told = prose.replaceAll(/ (Set by [^.]*|Rarely needed)\.(?= |$)/g, '').replaceAll('|', '\\|')
    const page = tag('see')?.replace('docs/', '')
    const more = page === undefined ? '' : ` See [${page.replace(/\.md.*/, '')}](${page}).`
    const variables = [...call.matchAll(/'(SLUICE_\w+)'/g)].map(([, variable]) => code(variable))
    const fallback = (tag('default') ?? '').replace(/^(?:'(.*)'|(\d+|true|false))$/, (_, text, word) =>
      code(text ?? word),
    )
    return {
      cells: [code(name), variables.join(', '), fallback, `${told}${more}`],
      isRare: / Rarely needed\./.test(prose),
    }
  })
}

const library = ['../src/options/table.ts', '../src/options/client-options.ts'].flatMap(commentedRows)
const receiver = optionNames.map((name) => {
  /** @type {import('../packages/receiver/dist/options/option-table.js').OptionRow} */
  const { placeholder, default: fallback, kind, about } = receiverTable[name]
  const written = code(`--${writtenName(name)}${placeholder === undefined ? '' : ` ${placeholder}`}`)
  return [written, code(variableOf(name)), fallback === undefined || kind === flag ? '' : code(fallback), about]
})
/** @type {readonly [path: string, mark: string, rows: readonly (readonly string[])[]][]} */
const tables = [
  ['../docs/options.md', 'options', library.filter(({ isRare }) => !isRare).map(({ cells }) => cells)],
  ['../docs/options.md', 'rare options', library.filter(({ isRare }) => isRare).map(({ cells }) => cells)],
  ['../packages/receiver/README.md', 'options', receiver],
]

for (const [path, mark, rows] of tables) {
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |`)
  const table = ['| option | variable | default | what it is |', '|---|---|---|---|', ...lines].join('\n')
  if (!process.argv.includes('--write')) {
    process.stdout.write(`${table}\n\n`)
    continue
  }
  const document = new URL(path, import.meta.url)
  const [start, end] = [`<!-- ${mark} -->`, `<!-- /${mark} -->`]
  const text = readFileSync(document, 'utf8')
  const [before, after] = [text.split(start)[0], text.split(end)[1]]
  writeFileSync(document, `${before}${start}\n${table}\n${end}${after}`)
}
