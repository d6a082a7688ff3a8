import { visible } from '../text/visible.js'

const frame = /^\s+at /
const foreign = /node_modules|\bnode:|\(native\)|<anonymous>/

interface Part {
  readonly isStack: boolean
  readonly lines: readonly string[]
}

/** The text of errors. Of each stack only the first frame of the application is shown; the others unfold. */
export function Stack({ text }: { readonly text: string }) {
  return (
    <div class="stack">
      {partsOf(text).map(({ isStack, lines }, index) =>
        isStack ? (
          <details key={`${index}`}>
            <summary>
              <code>{visible((lines.find((line) => !foreign.test(line)) ?? lines[0]!).trim())}</code>
              {lines.length > 1 && <span class="dim"> {lines.length} frames</span>}
            </summary>
            <pre>{visible(lines.join('\n'))}</pre>
          </details>
        ) : (
          <pre key={`${index}`}>{visible(lines.join('\n'))}</pre>
        ),
      )}
    </div>
  )
}

function partsOf(text: string): Part[] {
  const parts: { isStack: boolean; lines: string[] }[] = []
  for (const line of text.split('\n')) {
    const isStack = frame.test(line)
    const part = parts.at(-1)
    if (part?.isStack === isStack) part.lines.push(line)
    else parts.push({ isStack, lines: [line] })
  }
  return parts
}
