import { visible } from '../text/visible.js'
import { type Condition, go, removeCondition, view } from '../view/view.js'
import { contextPrefix } from './record-filter.js'

/** The filters of the view, each with a button that takes it away. */
export function Conditions() {
  const { only, not, around } = view.value
  if (only.length + not.length === 0 && around === undefined) return null
  return (
    <ul class="conditions" aria-label="Filters of this view">
      {around !== undefined && (
        <li>
          lines around {around}
          <button
            type="button"
            class="mini"
            aria-label="Show the newest lines"
            onClick={() => go({ around: undefined, id: undefined })}
          >
            ✕
          </button>
        </li>
      )}
      {only.map((condition) => (
        <Chip key={`${condition.field}:${condition.value}`} kind="only" condition={condition} />
      ))}
      {not.map((condition) => (
        <Chip key={`not ${condition.field}:${condition.value}`} kind="not" condition={condition} />
      ))}
    </ul>
  )
}

function Chip({ kind, condition }: { readonly kind: 'only' | 'not'; readonly condition: Condition }) {
  const field = condition.field.startsWith(contextPrefix)
    ? condition.field.slice(contextPrefix.length)
    : condition.field
  const shown = visible(condition.value.slice(0, 80))
  return (
    <li class={kind}>
      <span class="dim">
        {visible(field)} {kind === 'only' ? '=' : '≠'}
      </span>{' '}
      {shown}
      <button
        type="button"
        class="mini"
        aria-label={`Remove the filter ${field} ${shown}`}
        onClick={() => removeCondition(kind, condition)}
      >
        ✕
      </button>
    </li>
  )
}
