import { useState } from 'preact/hooks'
import { valueText } from '../text/message-parts.js'
import { visible } from '../text/visible.js'
import { contextPrefix } from './record-filter.js'
import { ValueActions } from './value-actions.js'

const step = 200
const openLevels = 2
const maxText = 2_000

interface TreeProps {
  readonly value: object
  readonly path?: string
  readonly depth?: number
  /** The values that can be looked up: path, colon and JSON. */
  readonly known: ReadonlySet<string>
}

/** The members of an object or an array of JSON, as a tree that opens. */
export function JsonTree({ value, path = '', depth = 0, known }: TreeProps) {
  const [shown, setShown] = useState(step)
  const members = Object.entries(value)
  // The members of a list are values of the list's field.
  const pathOf = (name: string) => (Array.isArray(value) ? path : depth === 0 ? name : `${path}.${name}`)
  return (
    <ul class="tree">
      {members.slice(0, shown).map(([name, member]) => (
        <Member key={name} name={name} value={member} path={pathOf(name)} depth={depth} known={known} />
      ))}
      {members.length > shown && (
        <li>
          <button type="button" class="mini" onClick={() => setShown(shown + step)}>
            {members.length - shown} more
          </button>
        </li>
      )}
    </ul>
  )
}

interface MemberProps {
  readonly name: string
  readonly value: unknown
  readonly path: string
  readonly depth: number
  readonly known: ReadonlySet<string>
}

function Member({ name, value, path, depth, known }: MemberProps) {
  const [open, setOpen] = useState(depth < openLevels)
  if (typeof value === 'object' && value !== null) {
    const size = Object.keys(value).length
    const brackets = Array.isArray(value) ? `[${size}]` : `{${size}}`
    return (
      <li>
        <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>
            <span class="key">{visible(name)}</span> <span class="dim">{brackets}</span>
          </summary>
          {open && <JsonTree value={value} path={path} depth={depth + 1} known={known} />}
        </details>
      </li>
    )
  }
  const text = valueText(value)
  return (
    <li class="leaf">
      <span class="key">{visible(name)}</span>
      <span class={`value ${value === null ? 'null' : typeof value}`}>
        {visible(text.length > maxText ? `${text.slice(0, maxText)}…` : text)}
      </span>
      {known.has(`${path}:${JSON.stringify(value)}`) && <ValueActions field={`${contextPrefix}${path}`} value={text} />}
    </li>
  )
}
