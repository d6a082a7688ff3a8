import { useRef } from 'preact/hooks'
import { messageOf } from '../api/requests.js'
import { sendToast } from '../shell/toast.js'
import { SavedViewList } from '../view/saved-view-list.js'
import { readViews } from '../view/saved-views.js'
import { go, view } from '../view/view.js'
import { exportRecords, maxExported } from './export.js'
import type { RecordFilter } from './record-filter.js'

interface ViewMenuProps {
  readonly bucket: string
  readonly filter: RecordFilter
}

/** Groups the lines of the view, exports it, saves it under a name, and opens saved ones. */
export function ViewMenu({ bucket, filter }: ViewMenuProps) {
  const { grouped } = view.value
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => {
    menu.current!.open = false
  }
  const save = async (format: 'ndjson' | 'csv') => {
    close()
    sendToast(`The newest ${maxExported.toLocaleString('en')} records of this view at most are exported.`)
    try {
      await exportRecords(format, { bucket, filter })
    } catch (error) {
      sendToast(`The export failed: ${messageOf(error)}`)
    }
  }
  return (
    <details class="menu" ref={menu} onToggle={({ currentTarget: { open } }) => open && readViews()}>
      <summary>View</summary>
      <div class="panel actions-list">
        <label>
          <input type="checkbox" checked={grouped} onChange={() => go({ grouped: !grouped })} /> Group similar messages
        </label>
        <button type="button" class="choice" onClick={() => save('ndjson')}>
          Export as NDJSON
        </button>
        <button type="button" class="choice" onClick={() => save('csv')}>
          Export as CSV
        </button>
        <SavedViewList onOpen={close} />
      </div>
    </details>
  )
}
