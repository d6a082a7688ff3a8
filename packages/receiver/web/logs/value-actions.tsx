import { visible } from '../text/visible.js'
import { addCondition } from '../view/view.js'

const maxShown = 60

/** "Only this" and "not this" for a value. */
export function ValueActions({ field, value }: { readonly field: string; readonly value: string }) {
  const shown = visible(value.length > maxShown ? `${value.slice(0, maxShown)}…` : value)
  return (
    <span class="actions">
      <button
        type="button"
        class="mini"
        title={`Only ${shown}`}
        aria-label={`Only this ${field}`}
        onClick={() => addCondition('only', { field, value })}
      >
        only
      </button>
      <button
        type="button"
        class="mini"
        title={`Not ${shown}`}
        aria-label={`Not this ${field}`}
        onClick={() => addCondition('not', { field, value })}
      >
        not
      </button>
    </span>
  )
}
