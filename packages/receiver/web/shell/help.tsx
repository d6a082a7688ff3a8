import { useEffect, useRef } from 'preact/hooks'

const keys = [
  ['/', 'search'],
  ['Space', 'pause, or follow again'],
  ['j, k', 'next and previous record'],
  ['Enter', 'open the record'],
  ['Esc', 'close the record'],
  ['?', 'this help'],
] as const

/** The keys of the page. */
export function Help({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current!.showModal(), [])
  return (
    <dialog ref={dialog} onClose={onClose} aria-label="Keys">
      <h1>Keys</h1>
      <dl>
        {keys.map(([key, action]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
      <p class="dim">
        A press on a level shows only that level. A search such as <code>order -health</code> finds the messages with
        the word <code>order</code> that do not have the word <code>health</code>. The address holds the whole view:
        copy it to share what you see.
      </p>
      <button type="button" class="quiet" onClick={() => dialog.current!.close()}>
        Close
      </button>
    </dialog>
  )
}
