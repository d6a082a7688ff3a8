import { visible } from '../text/visible.js'
import { go, view } from '../view/view.js'
import { facets } from './facets.js'
import { levelClass, levelOrder } from './levels.js'

const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** A button for each level. Without a pressed one all levels are shown. */
export function LevelChips() {
  const { levels } = view.value
  const counts = facets.value.levels
  const toggle = (level: string) =>
    go({ levels: levels.includes(level) ? levels.filter((other) => other !== level) : [...levels, level] })
  return (
    <div role="group" class="chips" aria-label="Levels">
      {levelOrder([...Object.keys(counts), ...levels]).map((level) => {
        const count = counts[level] ?? 0
        return (
          <button
            type="button"
            key={level}
            class={`chip ${levelClass(level)}`}
            aria-pressed={levels.includes(level)}
            title={`${count} of the newest records`}
            onClick={() => toggle(level)}
          >
            {visible(level)}
            {count > 0 && (
              <span class="dim" aria-hidden="true">
                {' '}
                {short.format(count)}
              </span>
            )}
          </button>
        )
      })}
    </div>
  )
}
