import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { LogList } from './log-list.js'
import { LogRow, today } from './log-row.js'
import type { RowSource } from './row-source.js'

const rowHeight = 24
/** Rows outside of the window that are in the document, above and below it. */
const overscan = 20
/** The document never has more rows than this. */
const maxRendered = 300
/** Older rows are loaded when fewer than this many are above the window. */
const nearTop = 40

interface TableProps {
  readonly list: LogList
  readonly source: RowSource
  readonly current: number | undefined
  readonly onOpen: (id: number) => void
}

/** The table of logs. Only the rows in the window, and a few around it, are in the document. */
export function LogTable({ list, source, current, onOpen }: TableProps) {
  const viewport = useRef<HTMLDivElement>(null)
  const [place, setPlace] = useState({ top: 0, height: 800 })
  const last = useRef({ top: 0, origin: 0, loads: 0, revealed: undefined as number | undefined })
  const { rows, origin } = source
  const total = rows.length * rowHeight
  const following = list.hold.value === undefined
  // While the list follows, its end is in the window, also before the scroll position has reached it.
  const top = following ? Math.max(0, total - place.height) : place.top
  const first = Math.max(0, Math.floor(top / rowHeight) - overscan)
  const end = Math.min(rows.length, first + Math.min(maxRendered, Math.ceil(place.height / rowHeight) + 2 * overscan))

  const measure = () => {
    const { scrollTop, clientHeight } = viewport.current!
    setPlace((before) =>
      before.top === scrollTop && before.height === clientHeight ? before : { top: scrollTop, height: clientHeight },
    )
  }

  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure)
    observer.observe(viewport.current!)
    return () => observer.disconnect()
  }, [])

  useLayoutEffect(() => {
    const element = viewport.current!
    const moved = (last.current.origin - origin) * rowHeight
    last.current.origin = origin
    if (following) element.scrollTop = total
    else if (moved !== 0) element.scrollTop += moved
    const isAnew = list.loads !== last.current.loads
    last.current.loads = list.loads
    if (current !== last.current.revealed || (isAnew && !following)) reveal(element, current)
    last.current.top = element.scrollTop
    measure()
  })

  function reveal(element: HTMLDivElement, id: number | undefined): void {
    const index = id === undefined ? -1 : source.indexOf(id)
    // A record that is not loaded yet is revealed when it is.
    if (id !== undefined && index === -1) return
    last.current.revealed = id
    if (index === -1) return
    const from = index * rowHeight
    if (from < element.scrollTop || from + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = Math.max(0, from - element.clientHeight / 2)
    }
  }

  function onScroll(): void {
    const element = viewport.current
    // The browser reports a scroll with its next frame: the list may be gone by then.
    if (element === null) return
    const { scrollTop, clientHeight, scrollHeight } = element
    const atEnd = scrollHeight - clientHeight - scrollTop < rowHeight
    if (following && scrollTop < last.current.top && !atEnd) list.stop('scroll')
    else if (list.hold.value === 'scroll' && scrollTop > last.current.top && atEnd) void list.follow()
    last.current.top = scrollTop
    if (list.hold.value !== undefined && scrollTop < nearTop * rowHeight) void list.loadOlder()
    measure()
  }

  function onClick(event: MouseEvent): void {
    if (!(getSelection()?.isCollapsed ?? true)) return
    const row = (event.target as Element).closest<HTMLElement>('[data-id]')
    if (row !== null) onOpen(Number(row.dataset.id))
  }

  const day = today()
  return (
    <div class="viewport" ref={viewport} onScroll={onScroll} tabIndex={0}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the page hears the keys. */}
      <div role="table" aria-label="Logs" aria-rowcount={rows.length} class="table" onClick={onClick}>
        <div role="rowgroup" class="rows" style={{ height: `${total}px`, paddingTop: `${first * rowHeight}px` }}>
          {rows.slice(first, end).map((record, index) => (
            <LogRow
              key={record.id}
              record={record}
              index={first + index}
              current={record.id === current}
              today={day}
              count={source.countOf?.(record.id)}
            />
          ))}
        </div>
      </div>
    </div>
  )
}
