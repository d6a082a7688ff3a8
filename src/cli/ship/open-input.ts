import { createReadStream, open, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'

export const pieceBytes = 65_536

/** The bytes of a file or of a named pipe, opened like one, such as `<(journalctl)`. Rejects with what the file system says. */
export async function openInput(path: string): Promise<Readable> {
  const facts = await factsOf(path)
  if (!facts.isFIFO() && !facts.isSocket()) return createReadStream(path, { highWaterMark: pieceBytes })
  // A thread that waits in a read of a pipe would hold up the end of the process.
  return new Socket({ fd: await promisify(open)(path, 'r'), readable: true, writable: false })
}

/** What is known of a file; rejects for a folder, too. */
export async function factsOf(path: string): Promise<Stats> {
  const facts = await stat(path)
  if (facts.isDirectory()) throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' })
  return facts
}

/** Why a file cannot be read, in words. */
export function unreadableWords(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return words[code ?? ''] ?? message
}

const words: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'it may not be read',
}
