/** How many records the service has rejected, by its reason. */
export type Rejections = ReadonlyMap<string, number>

/** For a person, one line for each reason. */
export function rejectionLines(rejections: Rejections): string[] {
  return [...rejections].map(([reason, count]) => `  ${count} × ${reason}`)
}

/** For a script. */
export function rejectionList(rejections: Rejections): { readonly reason: string; readonly count: number }[] {
  return [...rejections].map(([reason, count]) => ({ reason, count }))
}
