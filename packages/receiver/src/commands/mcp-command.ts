import { failureWords } from '../../../../src/cli/next-step.js'
import { ApiError } from '../../../../src/content/api-error.js'
import { reasonOf } from '../../../../src/errors/text-of.js'
import { ReadingRequests } from '../client/reading-requests.js'
import type { Source } from '../mcp/server.js'
import { ToolError } from '../mcp/tool.js'
import { outliveReaders, say } from '../stderr.js'
import type { Place } from './place.js'
import { type ReadingTarget, readingTarget } from './reading-target.js'

const signals = ['SIGTERM', 'SIGINT'] as const

/** Serves the Model Context Protocol over stdin and stdout until stdin ends or a signal comes. Resolves with the exit status. */
export async function serveMcp(place: Place): Promise<number> {
  outliveReaders()
  let target: ReadingTarget
  try {
    target = await readingTarget(place, { name: 'mcp', needs: 'logs', opens: false })
  } catch (error) {
    say(`mcp: ${reasonOf(error)}`)
    return 2
  }
  if (process.stdin.isTTY)
    say('mcp: an editor starts this command and speaks to it; Ctrl-C ends it. See docs/agents.md of sluice')
  const requests = new ReadingRequests(target.options)
  const ending = new AbortController()
  const { connectStdio } = await import('../mcp/stdio-connection.js')
  await new Promise<void>((resolve) => {
    const connection = connectStdio(sourceOf(target.options, { requests, ending: ending.signal }), resolve)
    // A second signal ends the process at once.
    for (const name of signals) process.once(name, () => void connection.close().finally(resolve))
  })
  ending.abort(new Error('the command ends'))
  process.stdin.destroy()
  await requests.close()
  await target.close().catch((error) => say(`mcp: the key of this command is left: ${reasonOf(error)}`))
  return 0
}

/** The tools read over HTTP, as `logs` does. A receiver that is away for a while costs an answer, not the connection. */
function sourceOf(
  { logBucket, valueBucket }: ReadingTarget['options'],
  { requests, ending }: { readonly requests: ReadingRequests; readonly ending: AbortSignal },
): Source {
  const logs = String(logBucket ?? valueBucket)
  return {
    buckets: { logs, values: valueBucket ?? logs },
    async ask(path, cancelled) {
      const signal = AbortSignal.any([ending, cancelled, AbortSignal.timeout(mostWaitMs)])
      try {
        const { answer } = await requests.read({ path, what: 'ask the receiver', signal })
        return answer
      } catch (error) {
        if (error instanceof ApiError) throw new ToolError(onceNamed(failureWords(error)))
        if (!signal.aborted) throw error
        throw new ToolError(
          `ask the receiver: no answer within ${mostWaitMs / 1000} s: ask for less, such as by since:1h`,
        )
      }
    },
  }
}

/** The name of a parameter stands in front of the receiver's words, which begin with it. */
function onceNamed(words: string): string {
  return words.replace(/\b(\w+): (?=\1\b)/g, '')
}

/** Clients of the protocol wait a minute. */
const mostWaitMs = 40_000
