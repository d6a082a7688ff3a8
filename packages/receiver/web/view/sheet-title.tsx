import { useRef } from 'preact/hooks'
import { SavedViewList } from './saved-view-list.js'
import { readViews } from './saved-views.js'

/** The heading of a page, with the saved views. */
export function SheetTitle({ title }: { readonly title: string }) {
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => {
    if (menu.current !== null) menu.current.open = false
  }
  return (
    <header class="title">
      <h1>{title}</h1>
      <details class="menu" ref={menu} onToggle={({ currentTarget: { open } }) => open && readViews()}>
        <summary>View</summary>
        <div class="panel actions-list">
          <SavedViewList onOpen={close} />
        </div>
      </details>
    </header>
  )
}
