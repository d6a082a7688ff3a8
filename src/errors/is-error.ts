/** True for an Error, also one of another realm (`node:vm`, jest); false for a proxy that is revoked or throws. */
export function isError(value: unknown): value is Error {
  try {
    // Bundles for browsers and edges have no `node:util`, which would know, too.
    return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]'
  } catch {
    return false
  }
}
