import { readFileSync, writeFileSync } from 'node:fs'
import {
  optionNames,
  optionTable as receiverTable,
  variableOf,
  writtenName,
} from '../packages/receiver/dist/options/option-table.js'
import { modules } from './modules.js'

/** @type {typeof import('../src/options/defaults.js')} */
const { optionTable, variablesOf } = await modules('options/defaults')

// Prints the tables of options of docs/options.md and the receiver's README, made from the tables that the code runs on; `--write` puts them there.
const code = (/** @type {unknown} */ text) => `\`${text}\``
const library = Object.entries(optionTable).map(([name, row]) => {
  const fallback = row.defaultText ?? (row.default === undefined ? '' : code(row.default))
  return [code(name), variablesOf(row).map(code).join(', '), fallback, row.about]
})
const receiver = optionNames.map((name) => {
  /** @type {import('../packages/receiver/dist/options/option-table.js').OptionRow} */
  const { placeholder, default: fallback, kind, about } = receiverTable[name]
  const written = code(`--${writtenName(name)}${placeholder === undefined ? '' : ` ${placeholder}`}`)
  return [written, code(variableOf(name)), fallback === undefined || kind.type === 'flag' ? '' : code(fallback), about]
})
const tables = { '../docs/options.md': library, '../packages/receiver/README.md': receiver }

for (const [path, rows] of Object.entries(tables)) {
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |`)
  const table = ['| option | variable | default | what it is |', '|---|---|---|---|', ...lines].join('\n')
  if (!process.argv.includes('--write')) {
    process.stdout.write(`${table}\n\n`)
    continue
  }
  const document = new URL(path, import.meta.url)
  const [start, end] = ['<!-- options -->', '<!-- /options -->']
  const text = readFileSync(document, 'utf8')
  const [before, after] = [text.split(start)[0], text.split(end)[1]]
  writeFileSync(document, `${before}${start}\n${table}\n${end}${after}`)
}
