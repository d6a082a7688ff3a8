import { failureWords } from '../../../../src/cli/next-step.js'
import { ApiError } from '../../../../src/content/api-error.js'
import { reasonOf } from '../../../../src/errors/text-of.js'
import { describeError } from '../../../../src/http/describe-error.js'
import type { ResolvedClientOptions } from '../../../../src/options/client-options.js'
import { ReadingRequests } from '../client/reading-requests.js'
import type { Source } from '../mcp/server.js'
import { ToolError } from '../mcp/tool.js'
import { outliveReaders, say } from '../stderr.js'
import type { JoinedReceiver } from './joined-receiver.js'
import { readingOptions } from './reading-service.js'
import type { StoreCommand } from './store-command.js'

/** Where the receiver runs if no variable says it. */
export type McpCommand = Omit<StoreCommand, 'json'>

/** A receiver to read from. */
interface Target {
  readonly options: Options
  /** Takes back what was made for the command. */
  close(): Promise<void>
}

type Options = ResolvedClientOptions & Readonly<Record<'logBucket' | 'valueBucket', string | undefined>>

const signals = ['SIGTERM', 'SIGINT'] as const

/** Serves the Model Context Protocol over stdin and stdout until stdin ends or a signal comes. Resolves with the exit status. */
export async function serveMcp(command: McpCommand): Promise<number> {
  outliveReaders()
  let target: Target
  try {
    target = await targetOf(command)
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

async function targetOf(command: McpCommand): Promise<Target> {
  const { SLUICE_URL: url, SLUICE_API_KEY_FILE: _, ...others } = process.env
  if (url !== undefined && url !== '') return { options: optionsOf(process.env), close: async () => {} }
  const { url: found, project, apiKey, close } = await joined({ ...command, json: false })
  const options = optionsOf({ SLUICE_BUCKET: project, ...others, SLUICE_URL: found, SLUICE_API_KEY: apiKey })
  return { options, close }
}

async function joined(store: StoreCommand): Promise<JoinedReceiver> {
  // It brings the databases.
  const { joinReceiver } = await import('./joined-receiver.js')
  try {
    return await joinReceiver(store, { name: 'mcp', scopes: ['read'] })
  } catch (error) {
    const toDo = 'start one with npx sluice-receiver, or set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET'
    const { cause = error } = error as Error
    const place = store.database === undefined ? store.data : 'the database'
    throw new Error(`no receiver runs on ${place} (${describeError(cause)}): ${toDo}`)
  }
}

function optionsOf(environment: NodeJS.ProcessEnv): Options {
  return readingOptions('logs', environment)
}

/** The tools read over HTTP, as `logs` does. A receiver that is away for a while costs an answer, not the connection. */
function sourceOf(
  { logBucket, valueBucket }: Options,
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
