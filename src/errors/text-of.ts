/** The value as a text; never throws, whatever the value is. */
export function textOf(value: unknown): string {
  try {
    return String(value)
  } catch {
    return 'a value that cannot be shown'
  }
}
