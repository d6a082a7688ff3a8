import { readPlainFile } from './plain-file.js'

/** More than any key or token has. */
const maxBytes = 65_536

/** The text of a file that holds a key or a token, which Kubernetes names by a link. Throws what the file system does. */
export function readSecretFile(path: string): string {
  return readPlainFile(path, { maxBytes, follow: true }).toString('utf8').trim()
}
