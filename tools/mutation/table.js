import { existsSync, readFileSync } from 'node:fs'

// The score of each file in a report of Stryker, and the mutants that no test noticed.

/**
 * @typedef {object} Mutant
 * @property {string} status
 * @property {string} mutatorName
 * @property {string} [replacement]
 * @property {{ start: { line: number, column: number }, end: { line: number, column: number } }} location
 */

/** @param {string} text */
const oneLine = (text) => {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 90 ? `${line.slice(0, 89)}…` : line
}

/** @param {string} source @param {Mutant['location']} location */
function textAt(source, { start, end }) {
  const lines = source.split('\n').slice(start.line - 1, end.line)
  lines[lines.length - 1] = lines.at(-1)?.slice(0, end.column - 1) ?? ''
  lines[0] = lines[0]?.slice(start.column - 1) ?? ''
  return lines.join('\n')
}

/** The lines of a table for one report, and of a list of what survived. @param {string} path @param {(file: string) => boolean} isWanted */
export function summary(path, isWanted) {
  if (!existsSync(path)) return { table: [], survivors: [] }
  /** @type {{ files: Record<string, { source: string, mutants: Mutant[] }> }} */
  const report = JSON.parse(readFileSync(path, 'utf8'))
  const table = []
  const survivors = []
  let allKilled = 0
  let allCounted = 0
  for (const [file, { source, mutants }] of Object.entries(report.files)) {
    if (!isWanted(file)) continue
    const killed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length
    const alive = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    const counted = killed + alive.length
    if (counted === 0) continue
    allKilled += killed
    allCounted += counted
    table.push(row(file, killed, counted))
    for (const { status, mutatorName, replacement, location } of alive) {
      const where = `${file}:${location.start.line}:${location.start.column}`
      const change = `${oneLine(textAt(source, location))} → ${oneLine(replacement ?? '')}`
      survivors.push(`${status === 'Survived' ? 'survived ' : 'uncovered'} ${where} ${mutatorName}: ${change}`)
    }
  }
  if (table.length > 1) table.push(row('together', allKilled, allCounted))
  return { table, survivors }
}

/** @param {string} name @param {number} killed @param {number} counted */
function row(name, killed, counted) {
  const score = `${((100 * killed) / counted).toFixed(1)} %`
  return `${name.padEnd(42)} ${score.padStart(8)}  ${killed} of ${counted}`
}
