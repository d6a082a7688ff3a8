import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reasonOf } from '../../errors/text-of.js'

/** The record after a change, as JSON on one line, or why there is none. */
export type Edited = { readonly body: string } | { readonly fault: string }

/** One member of a record and its new value. */
export interface Assignment {
  /** Names of members and places in lists, from the outermost on. */
  readonly path: readonly string[]
  readonly value: unknown
}

/** Read `path=value`. The value is JSON, or else a text. Undefined for a text of another form. */
export function readAssignment(written: string): Assignment | undefined {
  const [, names, text] = /^([^=]+)=(.*)$/s.exec(written) ?? []
  if (names === undefined || text === undefined) return undefined
  const path = names.split('.')
  if (path.includes('')) return undefined
  try {
    return { path, value: JSON.parse(text) }
  } catch {
    return { path, value: text }
  }
}

/** Set a member of a record. Objects that the path lacks are made. */
export function assign(body: string, { path, value }: Assignment): Edited {
  const record: unknown = JSON.parse(body)
  if (JSON.stringify(record) !== body) {
    return { fault: 'the record has numbers or texts that --set would change; use $EDITOR' }
  }
  let target = record as object
  for (const [index, name] of path.slice(0, -1).entries()) {
    if (!Object.hasOwn(target, name)) define(target, name, {})
    const next: unknown = Reflect.get(target, name)
    if (typeof next !== 'object' || next === null) {
      return { fault: `--set: ${path.slice(0, index + 1).join('.')} is no object` }
    }
    target = next
  }
  const last = path.at(-1)!
  if (Array.isArray(target) && !(/^\d+$/.test(last) && Number(last) <= target.length)) {
    return { fault: `--set: ${path.join('.')}: expected a place from 0 to ${target.length}` }
  }
  define(target, last, value)
  return { body: JSON.stringify(record) }
}

/** Unlike an assignment, it makes a member of any name, such as `__proto__`. */
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true })
}

/**
 * Let the user change a record in an editor. Resolves when the editor ends.
 *
 * @param plan `command` is a line for the shell; the editor prints on stderr when `quiet`
 */
export async function editByHand(
  body: string,
  { command, quiet }: { readonly command: string; readonly quiet: boolean },
): Promise<Edited> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-edit-'))
  const file = join(folder, 'record.json')
  const shown = shownTo(body)
  writeFileSync(file, shown, { mode: 0o600 })
  // The name needs no quotes in any shell, because the folder is the working directory.
  const editor = spawn(`${command} record.json`, {
    cwd: folder,
    shell: true,
    stdio: ['inherit', quiet ? 2 : 'inherit', 'inherit'],
  })
  const end = await new Promise<number | string | null>((resolve) => {
    editor.once('error', (error) => resolve(error.message))
    editor.once('close', (code, signal) => resolve(code ?? signal))
  })
  const edited: Edited = end === 0 ? read(file, { body, shown }) : { fault: `the editor ended with ${end}` }
  if (end !== 0 || 'body' in edited) rmSync(folder, { recursive: true, force: true })
  return edited
}

/** Pretty, unless that would change a number or a text. */
function shownTo(body: string): string {
  const record: unknown = JSON.parse(body)
  return JSON.stringify(record) === body ? `${JSON.stringify(record, null, 2)}\n` : `${body}\n`
}

function read(file: string, { body, shown }: { readonly body: string; readonly shown: string }): Edited {
  const kept = `your text is in ${file}`
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return { fault: `cannot read what the editor wrote: ${reasonOf(error)}` }
  }
  if (text === shown) return { body }
  try {
    const record: unknown = JSON.parse(text)
    if (typeof record !== 'object' || record === null || Array.isArray(record)) {
      return { fault: `expected a JSON object; ${kept}` }
    }
    const line = text.trim()
    return { body: line.includes('\n') ? JSON.stringify(record) : line }
  } catch (error) {
    return { fault: `not valid JSON: ${reasonOf(error)}; ${kept}` }
  }
}
