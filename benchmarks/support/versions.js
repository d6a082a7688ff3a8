import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const { resolve } = createRequire(import.meta.url)

/**
 * `name version` of each, as it is installed. Read from the folders, for not every package exports its package.json.
 *
 * @param {Iterable<string>} packages
 */
export function versionsOf(packages) {
  return [...new Set(packages)].map((name) => {
    for (const folder of resolve.paths(name) ?? []) {
      try {
        return `${name} ${JSON.parse(readFileSync(`${folder}/${name}/package.json`, 'utf8')).version}`
      } catch {
        // Not in this one.
      }
    }
    return `${name} (not installed)`
  })
}
