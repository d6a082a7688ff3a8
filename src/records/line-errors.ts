import { type ErrorLike, isErrorLike, nameOf } from './error-like.js'

type Fields = Record<string, unknown>

/**
 * Adds errors that the logger tells beside the line, where JSON shows no more of them than `{}` and their own fields. A field that is not in
 * the line, or that a format has made a text of, stays as the format left it.
 *
 * @param errors see `LineAbout.errors`
 * @returns the error that is the line itself, if it is one
 */
export function addErrors(line: Fields, errors: string): ErrorLike | undefined {
  const { '': own, ...ofFields } = JSON.parse(errors) as Fields
  for (const [key, error] of Object.entries(ofFields)) {
    const shown = Object.hasOwn(line, key) ? line[key] : undefined
    if (isErrorLike(error) && typeof shown === 'object' && shown !== null) line[key] = withShown(error, shown)
  }
  return isErrorLike(own) ? own : undefined
}

/** An error as its line shows it. A format may have changed its message, which its stack still has: of that stack the frames are left. */
function withShown(error: ErrorLike, shown: { readonly message?: unknown }): ErrorLike {
  const { message } = shown
  const merged = { ...error, ...shown } as ErrorLike
  if (typeof message !== 'string' || message === error.message || merged.stack !== error.stack) return merged
  const frames = (error.stack ?? '').split('\n').filter((line) => /^[ \t]+at /.test(line))
  return { ...merged, stack: [message === '' ? nameOf(error) : `${nameOf(error)}: ${message}`, ...frames].join('\n') }
}

/**
 * Takes out of the fields what a line of winston has of its own error: the line is an error, or winston has laid out stack and cause of an
 * error that followed the message. The other fields of the error stay.
 *
 * @param own the error that is the line itself
 * @param text the message
 */
export function takeOwnError(context: Fields, own: ErrorLike | undefined, text: string): ErrorLike | undefined {
  const stack = stackIn(context)
  if (own === undefined && typeof stack !== 'string') return undefined
  const laidOut = { message: text, stack: String(stack), cause: context.cause }
  const error = own === undefined ? laidOut : withShown(own, text === '' ? {} : { message: text })
  for (const key of own === undefined ? ['stack', 'cause'] : ['stack', 'cause', 'errors']) delete context[key]
  return error
}

/**
 * The stack of a line. nest-winston writes it as an array, with null where it has none: that is removed. Any other array is a field of the
 * application.
 */
function stackIn(context: Fields): unknown {
  const { stack } = context
  if (!Array.isArray(stack)) return stack
  if (stack.length > mostTexts) return undefined
  const texts = stack.filter((each) => each !== null)
  if (texts.length === 0) delete context.stack
  return texts.length > 0 && texts.every(isStackText) ? [...new Set(texts)].join('\n') : undefined
}

/** An array of nest-winston has one text. */
const mostTexts = 16

function isStackText(value: unknown): value is string {
  return typeof value === 'string' && /\n[ \t]+at /.test(value.slice(0, maxHeadChars))
}

/** The first frame of a stack begins within this number of characters. */
const maxHeadChars = 10_000
