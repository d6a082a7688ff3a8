import { hostProcess } from './host.js'

/** A word of NODE_OPTIONS, which may be quoted in whole or in part. */
const word = /(?:[^ "]|"(?:\\.|[^"\\])*")+/g
const preload = /^(-r|--require|--import|--loader|--experimental-loader)(=|$)/

/**
 * The environment of a thread of our own. What an application loads into every thread by NODE_OPTIONS is not loaded there: it may take
 * seconds, and is not made for such a thread. Other options of Node.js stay.
 */
export function ownThreadEnvironment(): NodeJS.ProcessEnv {
  return { ...hostProcess.env, NODE_OPTIONS: withoutPreloads(hostProcess.env.NODE_OPTIONS ?? '') }
}

function withoutPreloads(options: string): string {
  const kept: string[] = []
  const words = (options.match(word) ?? []).values()
  for (const each of words) {
    const [, , assigned] = preload.exec(each.replaceAll('"', '').replaceAll('_', '-')) ?? []
    if (assigned === undefined) kept.push(each)
    // The next word is the name of the module.
    else if (assigned === '') words.next()
  }
  return kept.join(' ')
}
