import { inUtc } from '../text/time.js'
import { go, view } from './view.js'

/** A time range as the address writes it, and its name. */
type Choice = readonly [since: string, name: string]

const choices: readonly Choice[] = [
  ['-5m', 'Last 5 minutes'],
  ['-15m', 'Last 15 minutes'],
  ['-1h', 'Last hour'],
  ['-24h', 'Last 24 hours'],
  ['-7d', 'Last 7 days'],
  ['-30d', 'Last 30 days'],
]

interface TimeRangeProps {
  /** What the view shows without a time range. */
  readonly usual: string
  /** Every range of the view ends now. */
  readonly endsNow?: boolean
}

/** Chooses the time range of the view. */
export function TimeRange({ usual, endsNow = false }: TimeRangeProps) {
  const { since, until } = view.value
  const named: readonly Choice[] = [['', usual], ...choices.filter(([, name]) => name !== usual)]
  const isNamed = (until === undefined || endsNow) && named.some(([value]) => value === (since ?? ''))
  return (
    <>
      <select
        aria-label="Time range"
        value={isNamed ? (since ?? '') : 'custom'}
        onChange={({ currentTarget: { value } }) => {
          if (value === 'custom')
            go({
              since: new Date(Date.now() - 3_600_000).toISOString(),
              until: endsNow ? undefined : new Date().toISOString(),
            })
          else go({ since: value || undefined, until: undefined, around: undefined, id: undefined })
        }}
      >
        {named.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
        <option value="custom">{endsNow ? 'Since …' : 'From … to …'}</option>
      </select>
      {!isNamed && (
        <span class="span">
          <Moment label="From" value={since} onChange={(written) => go({ since: written })} />
          {!endsNow && <Moment label="To" value={until} onChange={(written) => go({ until: written })} />}
        </span>
      )}
    </>
  )
}

interface MomentProps {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (written: string | undefined) => void
}

function Moment({ label, value, onChange }: MomentProps) {
  const utc = inUtc.value
  const ms = value === undefined ? Number.NaN : Date.parse(value)
  const offset = Number.isNaN(ms) || utc ? 0 : new Date(ms).getTimezoneOffset() * 60_000
  const shown = Number.isNaN(ms) ? '' : new Date(ms - offset).toISOString().slice(0, 19)
  return (
    <input
      type="datetime-local"
      step="1"
      aria-label={`${label} (${utc ? 'UTC' : 'local time'})`}
      value={shown}
      onChange={({ currentTarget }) => {
        const written = Date.parse(utc ? `${currentTarget.value}Z` : currentTarget.value)
        onChange(Number.isNaN(written) ? undefined : new Date(written).toISOString())
      }}
    />
  )
}
