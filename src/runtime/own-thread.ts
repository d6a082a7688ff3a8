import { hostProcess } from './host.js'

/** A word of NODE_OPTIONS, which may be quoted in whole or in part. */
const word = /(?:[^ "]|"(?:\\.|[^"\\])*")+/g
const preload = /^(-r|--require|--import|--loader|--experimental-loader)(=|$)/

/** The files by which yarn's Plug'n'Play lets a thread find its packages. */
const plugAndPlay = /\.pnp\.(cjs|loader\.mjs)"?$/

/**
 * The environment of a thread of our own. What an application loads into every thread by NODE_OPTIONS is not loaded there: it may take
 * seconds, and is not made for such a thread. Other options of Node.js stay, and so does yarn's Plug'n'Play.
 */
export function ownThreadEnvironment(): NodeJS.ProcessEnv {
  return { ...hostProcess.env, NODE_OPTIONS: withoutPreloads(hostProcess.env.NODE_OPTIONS ?? '') }
}

function withoutPreloads(options: string): string {
  const kept: string[] = []
  const words = (options.match(word) ?? []).values()
  for (const each of words) {
    const [, , assigned] = preload.exec(each.replaceAll('"', '').replaceAll('_', '-')) ?? []
    // The module is in the same word or is the next one.
    const whole = assigned === '' ? `${each} ${words.next().value}` : each
    if (assigned === undefined || plugAndPlay.test(whole)) kept.push(whole)
  }
  return kept.join(' ')
}
