/**
 * The records of an engine in its pipe; see `src/pipe/frame.ts`. `style` and the text of a line are:
 *
 *     pino      number of the logger's style       the line
 *     winston   bytes of the level's name          that name, then the line
 *     log       bytes of the facts, 0 without      the facts as JSON, then the head of the record
 *     sampled   0                                  nothing: the line is left out by the option `sample`
 *     style     number of the style                the style as JSON
 */
export const marks = { below: 1, redacted: 2 } as const
