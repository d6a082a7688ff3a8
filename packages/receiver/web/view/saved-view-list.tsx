import { useState } from 'preact/hooks'
import { messageOf } from '../api/requests.js'
import { sendToast } from '../shell/toast.js'
import { visible } from '../text/visible.js'
import { deleteView, maxNameLength, openView, savedViews, saveView } from './saved-views.js'

/** Saves the present view under a name, opens saved ones, and deletes them: for all who sign in. */
export function SavedViewList({ onOpen }: { readonly onOpen: () => void }) {
  const [name, setName] = useState('')
  const save = () => {
    if (name.trim() === '') return
    void attempt('The view is not saved', async () => {
      await saveView(name.trim())
      setName('')
    })
  }
  return (
    <section class="saved-views" aria-label="Saved views">
      <h2>Saved views</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <input
          type="text"
          aria-label="Name of this view"
          placeholder="Name of this view"
          maxLength={maxNameLength}
          value={name}
          onInput={({ currentTarget: { value } }) => setName(value)}
        />
        <button type="submit" class="quiet">
          Save
        </button>
      </form>
      <ul>
        {savedViews.value.map((saved) => {
          const shown = visible(saved.name.slice(0, maxNameLength))
          return (
            <li key={saved.name}>
              <button
                type="button"
                class="choice"
                onClick={() => {
                  openView(saved)
                  onOpen()
                }}
              >
                <span class="value">{shown}</span>
              </button>
              <button
                type="button"
                class="quiet"
                aria-label={`Delete the view ${shown}`}
                onClick={() => attempt('The view is not deleted', () => deleteView(saved.name))}
              >
                ×
              </button>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** The receiver may refuse: the person is told. */
async function attempt(failure: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    sendToast(`${failure}: ${messageOf(error)}`)
  }
}
