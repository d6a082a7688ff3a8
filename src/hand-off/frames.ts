/**
 * The records of an engine in its pipe; see `src/pipe/frame.ts`. `style` and the text are:
 *
 *     line      number of its style       the line; with the mark `errors` its errors as JSON and a line end stand before it
 *     style     number of the style       the style as JSON
 */
export const marks = { below: 1, redacted: 2, errors: 4 } as const
