import { PassThrough } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { type StdioServerHandle, StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { say } from '../stderr.js'
import { type Source, toolServer } from './server.js'

/**
 * Serves the tools over stdin and stdout.
 *
 * @param ended is called when the connection has ended
 */
export function connectStdio(source: Source, ended: () => void): StdioServerHandle {
  return serveStdio(() => toolServer(source), {
    transport: answeringToTheEnd(ended),
    maxSubscriptions: 0,
    onerror: ({ message }) => say(`mcp: ${message}`),
  })
}

/**
 * The transport of the SDK gives up the questions under way when stdin ends. A script that writes its questions and ends has not read the answers
 * then, so here stdin ends once they are written.
 */
function answeringToTheEnd(ended: () => void): Transport {
  const { stdin, stdout } = process
  const input = new PassThrough()
  const inner = new StdioServerTransport(input, stdout)
  const pending = new Set<string | number>()
  let isOver = false
  stdin.on('data', (chunk) => input.write(chunk))
  for (const event of ['end', 'close', 'error'] as const) stdin.once(event, finish)

  const transport: Transport = {
    async start() {
      inner.onmessage = (message) => {
        begun(message)
        transport.onmessage?.(message)
      }
      inner.onerror = (error) => transport.onerror?.(error)
      inner.onclose = () => {
        transport.onclose?.()
        ended()
      }
      await inner.start()
    },
    async send(message) {
      await inner.send(message)
      if (!('method' in message) && message.id !== undefined) answered(message.id)
    },
    close: () => inner.close(),
  }
  return transport

  function begun(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) pending.add(message.id)
    // Such a question gets no answer.
    else if (message.method === 'notifications/cancelled') answered(message.params?.requestId as string | number)
  }

  function answered(id: string | number): void {
    pending.delete(id)
    endWhenAnswered()
  }

  function finish(): void {
    if (isOver) return
    isOver = true
    setTimeout(() => input.end(), mostWaitMs).unref()
    endWhenAnswered()
  }

  function endWhenAnswered(): void {
    if (!isOver || pending.size > 0) return
    // What stdin has brought last may not have been read.
    if (input.readableLength + input.writableLength > 0) setImmediate(endWhenAnswered)
    else setImmediate(() => pending.size === 0 && input.end())
  }
}

/** Answers may take this long after the end of stdin. */
const mostWaitMs = 10_000
