import { redacted, shortestSecret } from './secret.js'

/** The same without what is not to be seen, wherever it turns up: a service may repeat in its answer what it was sent. */
export function hide<Value>(value: Value, secrets: readonly string[]): Value
export function hide(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') {
    const sought = secrets.filter(({ length }) => length >= shortestSecret)
    return sought.reduce((shown, secret) => shown.replaceAll(secret, redacted), value)
  }
  if (Array.isArray(value)) return value.map((each) => hide(each, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hide(each, secrets)]))
}
