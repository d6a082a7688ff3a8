import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { maxQueryLength } from '../../src/query/parse-query.js'
import type { QueryError } from '../../src/query/query-error.js'
import type { LogRecord } from '../api/records.js'
import { visible } from '../text/visible.js'
import { go, view } from '../view/view.js'
import { type Completion, type Completions, completionsOf } from './completion.js'
import { learn, occurringWith } from './occurring.js'

const typingMs = 200
const maxShown = 60
const none: Completions = { start: 0, list: [] }
const examples = ['level>=warn since:1h', 'res.statusCode>=500', '"card declined" -health']
/** Characters of the query beside the place of a problem. */
const shownBefore = 24
const shownAfter = 12

interface BoxProps {
  readonly bucket: string
  /** The records that are loaded: their fields and words complete what is written. */
  readonly rows: () => readonly LogRecord[]
  /** Why the query of the view cannot be understood. */
  readonly problem: QueryError | undefined
}

/** How far the list of completions is open: for the query as far as the cursor. */
interface Open {
  readonly before: string
  /** True if the person has asked for it. */
  readonly isAsked: boolean
}

/** The search of the view, with a list that completes it. */
export function SearchBox({ bucket, rows, problem }: BoxProps) {
  const { text } = view.value
  const [typed, setTyped] = useState(text)
  const [open, setOpen] = useState<Open | undefined>(undefined)
  /** What the person has chosen in the list. */
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  const box = useRef<HTMLInputElement>(null)
  const cursor = useRef<number | undefined>(undefined)
  const timer = useRef(0)
  const known = useRef(text)
  // Another view has another search. The person's own typing must not be overwritten.
  useEffect(() => {
    if (known.current !== text) setTyped(text)
    known.current = text
  }, [text])
  // A view that is left before the search has begun keeps its address.
  useEffect(() => () => clearTimeout(timer.current), [])
  useLayoutEffect(() => {
    if (cursor.current !== undefined) box.current!.setSelectionRange(cursor.current, cursor.current)
    cursor.current = undefined
  })
  const occurring = open === undefined ? undefined : occurringWith(bucket, rows())
  // Records that arrive must not move what the person is about to choose.
  const { start, list } = useMemo(
    () => (open === undefined ? none : completionsOf({ ...open, occurring: occurring! })),
    [open, occurring?.facets],
  )
  const at = list.findIndex(({ written }) => written === chosen)
  const isOpen = list.length > 0
  // A person who is about to complete the query knows that it has no end yet.
  const shownProblem = isOpen && problem !== undefined && problem.position > start ? undefined : problem

  const search = (value: string) => {
    clearTimeout(timer.current)
    known.current = value.trim()
    go({ text: known.current, around: undefined, id: undefined }, { replace: true })
  }
  const type = (value: string) => {
    setTyped(value)
    setChosen(undefined)
    clearTimeout(timer.current)
    timer.current = window.setTimeout(search, typingMs, value)
  }
  const openAt = (place: number, { value, isAsked }: { readonly value: string; readonly isAsked: boolean }) =>
    setOpen(/^(?:[\s)]|$)/.test(value.slice(place)) ? { before: value.slice(0, place), isAsked } : undefined)
  const take = ({ written, isKey }: Completion) => {
    const before = typed.slice(0, start) + written
    const after = typed.slice(open!.before.length)
    const space = isKey || /^\s/.test(after) ? '' : ' '
    const value = before + space + after
    cursor.current = before.length + (isKey ? 0 : 1)
    type(value)
    if (isKey) openAt(before.length, { value, isAsked: true })
    else {
      setOpen(undefined)
      search(value)
    }
  }
  const close = () => {
    setOpen(undefined)
    setChosen(undefined)
  }
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }) => {
    const { key, currentTarget } = event
    if (event.isComposing) return
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault()
      if (!isOpen) openAt(currentTarget.selectionStart ?? 0, { value: typed, isAsked: true })
      else setChosen(list.at(key === 'ArrowDown' ? (at + 1) % list.length : at === -1 ? -1 : at - 1)!.written)
    } else if ((key === 'Enter' || key === 'Tab') && at !== -1) {
      event.preventDefault()
      take(list[at]!)
    } else if (key === 'Enter') {
      close()
      search(currentTarget.value)
    } else if (key === 'Escape') {
      if (isOpen) close()
      else currentTarget.blur()
    } else if (['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(key)) close()
  }
  return (
    <div class="search">
      <input
        ref={box}
        type="text"
        enterkeyhint="search"
        role="combobox"
        aria-label="Search"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls="completions"
        aria-activedescendant={at === -1 ? undefined : `completion-${at}`}
        aria-invalid={shownProblem !== undefined}
        aria-describedby={shownProblem === undefined ? undefined : 'search-problem'}
        placeholder="Search: words, level:error…"
        autocomplete="off"
        spellcheck={false}
        maxLength={maxQueryLength}
        value={typed}
        onFocus={() => void learn(bucket, rows().length)}
        onBlur={close}
        onInput={({ currentTarget: { value, selectionStart } }) => {
          type(value)
          openAt(selectionStart ?? value.length, { value, isAsked: false })
        }}
        onKeyDown={onKeyDown}
      />
      {(isOpen || shownProblem !== undefined) && (
        <div class="below">
          {shownProblem !== undefined && <Problem problem={shownProblem} query={text} />}
          {isOpen && <List list={list} at={at} onTake={take} />}
        </div>
      )}
    </div>
  )
}

function Problem({ problem, query }: { readonly problem: QueryError; readonly query: string }) {
  const at = problem.position - 1
  const from = Math.max(0, at - shownBefore)
  const part = (begin: number, end: number) => visible(query.slice(begin, end).toWellFormed())
  return (
    <p id="search-problem" class="wrong">
      {visible(problem.message.replace(/^q: /, ''))}
      <code aria-hidden="true">
        {from > 0 && '…'}
        {part(from, at)}
        <mark>{part(at, at + 1) || ' '}</mark>
        {part(at + 1, at + shownAfter)}
      </code>
    </p>
  )
}

interface ListProps {
  readonly list: readonly Completion[]
  /** The place of the chosen one, or -1. */
  readonly at: number
  readonly onTake: (completion: Completion) => void
}

function List({ list, at, onTake }: ListProps) {
  const listbox = useRef<HTMLDivElement>(null)
  useEffect(() => listbox.current!.children[at]?.scrollIntoView({ block: 'nearest' }), [at])
  return (
    <>
      <div ref={listbox} id="completions" role="listbox" aria-label="Completions">
        {list.map((completion, index) => {
          const { text, written, isKey, count } = completion
          return (
            <div
              key={written}
              id={`completion-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              class={isKey ? 'choice key' : 'choice'}
              onMouseDown={(event) => {
                // The box keeps the focus.
                event.preventDefault()
                if (event.button === 0) onTake(completion)
              }}
            >
              <span class="value">{visible(text.slice(0, maxShown).toWellFormed())}</span>{' '}
              {count !== undefined && <span class="dim">{count.toLocaleString('en')}</span>}
            </div>
          )
        })}
      </div>
      <p class="dim">
        {examples.map((example) => (
          <code key={example}>{example}</code>
        ))}
      </p>
    </>
  )
}
