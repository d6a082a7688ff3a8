import { types } from 'node:util'

/** True for an Error, also one of another realm (`node:vm`, jest); false for a proxy that is revoked or throws. */
export function isError(value: unknown): value is Error {
  try {
    return types.isNativeError(value) || value instanceof Error
  } catch {
    return false
  }
}
