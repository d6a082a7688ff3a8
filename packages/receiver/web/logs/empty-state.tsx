import { useState } from 'preact/hooks'
import { messageOf } from '../api/requests.js'
import { sendTestRecord, session } from '../api/session.js'
import { CopyButton } from '../shell/copy-button.js'
import { sendToast } from '../shell/toast.js'
import { linkTo } from '../view/view.js'
import { type SnippetName, snippetNames, snippetOf } from './snippets.js'

/** Shown while a bucket has no records: how the first one gets here. */
export function EmptyState({ bucket }: { readonly bucket: string }) {
  const [name, setName] = useState<SnippetName>('pino')
  const { url, apiKey } = session.value!
  const code = snippetOf(name, { url, apiKey: apiKey ?? 'YOUR_KEY', bucket })
  const send = async () => {
    try {
      await sendTestRecord()
    } catch (error) {
      sendToast(`The test record was not stored: ${messageOf(error)}`)
    }
  }
  return (
    <div class="empty">
      <h1>No records yet</h1>
      <p>
        Bucket <code>{bucket}</code> at <code>{url}</code> waits for its first record. It appears here as it arrives.
      </p>
      <div class="tabs" role="tablist" aria-label="Snippets">
        {snippetNames.map((each) => (
          <button type="button" role="tab" key={each} aria-selected={each === name} onClick={() => setName(each)}>
            {each}
          </button>
        ))}
      </div>
      <div class="snippet" role="tabpanel" aria-label={name}>
        <pre tabIndex={0}>{code}</pre>
        <CopyButton label="Copy" text={() => code} />
      </div>
      {apiKey === null && (
        <p class="dim">
          The receiver stores only a hash of its key and cannot show it again. <code>--new-key</code> makes another.
        </p>
      )}
      <p>
        <button type="button" class="primary" onClick={send}>
          Send a test record
        </button>
      </p>
      <p class="dim">
        Nothing arrives? <a href={linkTo('rejected')}>See what was refused, and why.</a>
      </p>
    </div>
  )
}
