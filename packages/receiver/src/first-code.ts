import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { snippets } from './snippets.js'

/** The code that sends first records from the application in a folder: for its loggers, or pino where it has none, and for `track`. */
export function firstCode(folder: string): string {
  const dependencies = dependenciesIn(folder)
  const loggers = (['pino', 'winston'] as const).filter((name) => dependencies.has(name))
  const names = [...(loggers.length === 0 ? (['pino'] as const) : loggers), 'track'] as const
  const missing = ['sluice', ...(loggers.length === 0 ? ['pino'] : [])].filter((name) => !dependencies.has(name))
  const install = missing.length === 0 ? '' : `, after npm install ${missing.join(' ')}`
  const code = names.map((name) => snippets[name].replace(/\n+/g, '\n').replace(/^/gm, '  '))
  return `And this into your code${install}:\n\n${code.join('\n\n')}\n`
}

/** The names in `dependencies` of the package.json. None where it cannot be read. */
function dependenciesIn(folder: string): ReadonlySet<string> {
  try {
    const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return new Set(Object.keys(dependencies ?? {}))
  } catch {
    return new Set()
  }
}
