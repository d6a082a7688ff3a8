import { headLine, textOf } from './error-text.js'
import { ownPath } from './source-path.js'

/** Where an error was thrown, by the stack in a text. */
export interface Stack {
  /** Class of the error; null where the text does not tell it. */
  readonly type: string | null
  readonly message: string
  /** First frame of the application; null where there is none. */
  readonly frame: string | null
}

/** So much of a line is read, in characters. */
const maxLine = 500
/** The head of a stack has at most this number of lines and characters, and so has the rest of it up to its first own frame. */
const maxLines = 50
const maxCharacters = 10_000
/** Python writes the error below its frames, of which each has two lines or more. */
const maxOfPython = { lines: 500, characters: 50_000 } as const
const maxType = 100
const maxFunction = 100

/**
 * Finds a stack as the runtimes of JavaScript, Java, .NET, Python and Go write it.
 *
 * @returns undefined for a text without one
 */
export function stackIn(text: string): Stack | undefined {
  if (text.includes(tracebackOfPython)) {
    const traceback = text.lastIndexOf(tracebackOfPython)
    return stackOfPython(text.slice(traceback, traceback + maxOfPython.characters))
  }
  // The expression takes ten times as long, and nearly all texts have no frame.
  const frame = text.includes('\n   ') || text.includes('\tat ') ? firstFrame.exec(text) : null
  if (frame !== null) return stackOfFrames(text, frame.index)
  const place = text.includes('.go:') ? firstPlaceOfGo.exec(text) : null
  return place === null ? undefined : stackOfGo(text, place.index)
}

/** False for a record without a stack, by its JSON. Costs little. */
export function mayHaveStack(json: string): boolean {
  return (
    json.includes('\\tat ') ||
    (json.includes('\\n   ') && / {3}at /.test(json)) ||
    json.includes(tracebackOfPython) ||
    json.includes('.go:')
  )
}

const tracebackOfPython = 'Traceback (most recent call last):'
/** The line break before it. JavaScript indents by four spaces, .NET by three, Java by a tab. */
const firstFrame = /\n(?: {4}at |(?:\t{1,2}| {3}| {5,8})at [^\s(]{1,300}\()/
/** The line break before the place of a frame; its function stands on the line before. */
const firstPlaceOfGo = /\n[ \t]{1,8}[^\s:]{1,300}\.go:\d/

/** @param frames where the first frame begins */
function stackOfFrames(text: string, frames: number): Stack {
  const lines = text.slice(frames + 1, frames + maxCharacters).split('\n', maxLines)
  return { ...errorOf(headBefore(text, frames)), frame: firstOwn(lines, ownFrame) }
}

function stackOfGo(text: string, place: number): Stack {
  const begin = text.lastIndexOf('\n', place - 1)
  const goroutine = text.lastIndexOf('goroutine ', place)
  const isHeaded = goroutine !== -1 && place - goroutine < maxLine && (goroutine === 0 || text[goroutine - 1] === '\n')
  const frames = Math.max(isHeaded ? goroutine - 1 : begin, 0)
  const lines = text.slice(begin + 1, begin + maxCharacters).split('\n', maxLines)
  const pairs = lines.map((line, index) => `${line}\n${lines[index + 1] ?? ''}`)
  return { ...errorOf(headBefore(text, frames)), frame: firstOwn(pairs, ownFrameOfGo) }
}

function stackOfPython(text: string): Stack {
  // Members of a group stand behind a bar.
  const lines = text.split('\n', maxOfPython.lines).map((line) => line.slice(0, maxLine).replace(/^ *[|+] /, ''))
  const end = lines.findIndex((line, index) => index > 0 && /^[^\s|+]/.test(line))
  const frames = (end === -1 ? lines : lines.slice(0, end)).reverse()
  const [, type, message] = /^([\w.]+)(?:: (.*))?$/.exec(lines[end] ?? '') ?? []
  return {
    type: type?.slice(0, maxType) ?? null,
    message: type === undefined ? (lines[end] ?? '') : (message ?? ''),
    frame: firstOwn(frames, ownFrameOfPython),
  }
}

function firstOwn(lines: readonly string[], read: (line: string) => string | undefined): string | null {
  for (const line of lines) {
    const frame = read(line)
    if (frame !== undefined) return frame
    if (/^ {0,8}caused by: /.test(line)) return null
  }
  return null
}

function headBefore(text: string, frames: number): string {
  return headLine(
    text
      .slice(Math.max(0, frames - maxCharacters), frames)
      .trimEnd()
      .split('\n')
      .slice(-maxLines)
      .map((line) => line.slice(0, maxLine)),
  )
}

/** What runtimes put before the error that has ended a program. */
const before =
  /^(?:Uncaught |Unhandled exception\. |Exception in thread "[^"]*" |http: panic serving [^ ]+: (?=runtime error))/
const typed =
  /^(?:([\w$.+`*\\/]+(?:::[\w$]+)*|fatal error)(?: \[[^\]]*\])?: (.*)|([\w$.]*(?:Error|Exception)|[A-Z][\w$]+|[\w$]+(?:[.+][\w$]+)+))$/

/** Type and message by the first line of an error. */
export function errorOf(head: string): Pick<Stack, 'type' | 'message'> {
  const [, named, text, only] = typed.exec(head.replace(before, '')) ?? []
  const type = named ?? only
  // .NET tells the cause behind an arrow.
  if (type !== undefined) return { type: type.slice(0, maxType), message: (text ?? '').replace(/ ---> .*$/, '') }
  return { type: null, message: textOf(head) }
}

/** A frame of JavaScript, Java or .NET without what changes from one machine or version to the next. */
function ownFrame(line: string): string | undefined {
  const written = /^[ \t]+at (?:async )?(.*)$/.exec(line.slice(0, 2 * maxLine))?.[1]
  if (written === undefined) return undefined
  return /^[^\s(]+\(/.test(written) && !/:\d+$/.test(written) ? ownFrameOfClass(written) : ownFrameOfScript(written)
}

/** Packages of the runtimes, and of frameworks that call an application. */
const ofRuntime =
  /^(?:java|javax|jdk|sun|com\.sun|jakarta|kotlin|kotlinx|scala|groovy|System|Microsoft|org\.(?:springframework|apache|hibernate|eclipse|jboss|junit)|io\.netty|reactor)\./

/** `com.shop.Orders.place(Orders.java:12)`, and `Shop.Orders.Place(Int32 id) in /src/Orders.cs:line 12`. */
function ownFrameOfClass(written: string): string | undefined {
  const [, name, inside, path] = /^(?:[\w.@-]*\/)*([^\s(]+)\(([^)]*)\)(?: in (.+?):line \d+)?/.exec(written) ?? []
  if (name === undefined || ofRuntime.test(name)) return undefined
  const place = path === undefined ? /^[\w$-]+\.\w+(?=:\d+$)/.exec(inside!)?.[0] : ownPath(path)
  return shown(withoutNumbers(name), place)
}

/** Compilers number lambdas, proxies and the classes of `async` methods. */
function withoutNumbers(name: string): string {
  return name.replace(/\$\$[\da-f]{6,}|\/0x[\da-f]+/g, '$<id>').replace(/(?<=[$_]|Accessor|Proxy)\d+/g, '<n>')
}

/** `placeOrder (/srv/shop/src/orders.js:12:3)`. */
function ownFrameOfScript(written: string): string | undefined {
  const open = written.endsWith(')') ? written.indexOf(' (') : -1
  const place = open === -1 ? written : written.slice(open + 2, -1)
  if (!/:\d+$/.test(place) || /[\\/]node_modules[\\/]|^node:|^internal\/|^native |<anonymous>/.test(place))
    return undefined
  const name = open === -1 ? '' : written.slice(0, open).replace(/ \[as [^[\]]*\]$/, '')
  return shown(name, ownPath(place))
}

/** `  File "/srv/shop/orders.py", line 12, in place`. */
function ownFrameOfPython(line: string): string | undefined {
  const [, path, name] = /^ *File "([^"]+)", line \d+(?:, in (.+))?$/.exec(line) ?? []
  if (path === undefined) return undefined
  const isForeign = /[\\/](?:site|dist)-packages[\\/]|[\\/]lib[\\/]python\d|[\\/]Python\d+[\\/]Lib[\\/]|^</i.test(path)
  return isForeign ? undefined : shown(name ?? '', ownPath(path))
}

/** `main.place(0x1, …)`, and on the next line `	/srv/shop/orders.go:12 +0x1d`. */
function ownFrameOfGo(lines: string): string | undefined {
  const [, name, path] =
    /^([^\s(]*(?:(?<=\.)\(\*?[\w.[\]]+\)[^\s(]*)?)(?:\(.*\))?\n[ \t]+(\S+\.go):\d+/.exec(
      lines.replace(/^created by /, ''),
    ) ?? []
  if (name === undefined || name === '' || name === 'panic') return undefined
  const folder = /^(.*\/)?[^/.]*/.exec(name)![0]
  const isForeign =
    /(?:^|\/)(?:vendor|pkg\/mod)\/|@v\d/.test(path!) ||
    (folder !== 'main' && !folder.includes('.') && isOfRuntime(path!, folder))
  // The name of the function has the package.
  return isForeign ? undefined : shown(name, path!.split('/').at(-1))
}

/** Go has its own packages in a folder `src` that has no module in front, such as `/usr/local/go/src/net/http`. */
function isOfRuntime(path: string, folder: string): boolean {
  const [, root] = new RegExp(`^(.*?)(?:^|/src/)${folder.replaceAll(/[^\w/]/g, '\\$&')}/[^/]+$`).exec(path) ?? []
  return root !== undefined && /^$|\/go[\w.-]*(?:\/[\d.]+)?(?:\/x64)?$|\/libexec$/.test(root)
}

function shown(name: string, place: string | undefined): string {
  if (place === undefined) return name.slice(0, maxFunction)
  return name === '' ? place : `${name.slice(0, maxFunction)} (${place})`
}
