/** What one look has come to. */
export interface Finding {
  /** What was looked at, in one or two words. */
  readonly check: string
  /** `skipped`: there was nothing to look at, or no sense in it. */
  readonly state: 'good' | 'bad' | 'skipped'
  /** What was found. */
  readonly text: string
  /** What to do about it. */
  readonly advice?: string | undefined
}

export function good(check: string, text: string): Finding {
  return { check, state: 'good', text }
}

export function bad(check: string, { text, advice }: { readonly text: string; readonly advice: string }): Finding {
  return { check, state: 'bad', text, advice }
}

export function skipped(check: string, text: string): Finding {
  return { check, state: 'skipped', text }
}
