import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { wordsIn } from '../../src/storage/records/words.js'
import { visible } from '../text/visible.js'
import { searchOf } from '../text/words.js'
import { go, view } from '../view/view.js'
import { findOlder } from './older-records.js'
import type { RecordFilter } from './record-filter.js'

const maxRecords = 500
const maxShown = 8
/** Words of the newest records, the most frequent first. */
const known = signal<readonly string[]>([])

/** What helps where a search finds nothing: it takes whole words, and there may be longer ones with those that were written. */
export function SimilarWords({ bucket, filter }: { readonly bucket: string; readonly filter: RecordFilter }) {
  useEffect(() => {
    const abort = new AbortController()
    known.value = []
    void readWords({ bucket, filter }, abort.signal)
    return () => abort.abort()
  }, [bucket, filter])
  const { wanted } = searchOf(view.value.text)
  const words = (written: string) => visible(wordsIn(written).join(' '))
  if (wanted.length === 0) return null
  return (
    <>
      <p>
        Search takes whole words, and all of them must be in one message: <code>{words(wanted.join(' '))}</code>.
      </p>
      {wanted.map((written) => {
        const similar = similarTo(written)
        if (similar.length === 0) return null
        return (
          <p key={written}>
            Words of the newest records with <code>{words(written)}</code>:{' '}
            {similar.map((word) => (
              <button type="button" class="quiet" key={word} onClick={() => replace(written, word)}>
                {visible(word)}
              </button>
            ))}
          </p>
        )
      })}
    </>
  )
}

/** Longer words that have the written one in them; none if that occurs itself. */
function similarTo(written: string): readonly string[] {
  const [word, ...others] = wordsIn(written)
  if (word === undefined || others.length > 0 || known.value.includes(word)) return []
  return known.value.filter((longer) => longer.includes(word)).slice(0, maxShown)
}

function replace(written: string, word: string): void {
  const words = view.value.text.split(/\s+/)
  go({ text: words.map((each) => (each === written ? word : each)).join(' ') })
}

/** Reads the words of the newest records that meet all of the view but its search. */
async function readWords(
  { bucket, filter }: { readonly bucket: string; readonly filter: RecordFilter },
  signal: AbortSignal,
): Promise<void> {
  const query = new URLSearchParams(filter.query)
  query.delete('text')
  try {
    const all = { query, matches: () => true }
    const { records } = await findOlder({ bucket, filter: all, enough: maxRecords, signal })
    const counts = new Map<string, number>()
    for (const { message } of records)
      for (const word of new Set(wordsIn(message))) counts.set(word, (counts.get(word) ?? 0) + 1)
    known.value = [...counts].sort(([, a], [, b]) => b - a).map(([word]) => word)
  } catch {
    // The page is of use without these words.
  }
}
