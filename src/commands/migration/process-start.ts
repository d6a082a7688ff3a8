import { readFileSync } from 'node:fs'

/**
 * When a process was started, in ticks since the start of the machine: with its number it names a process for good. Undefined where
 * there is no such process, and elsewhere than on Linux.
 */
export function startOfProcess(number: number): string | undefined {
  try {
    const facts = readFileSync(`/proc/${number}/stat`, 'utf8')
    // The second one is its name in brackets, with whatever in it.
    return facts.slice(facts.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
