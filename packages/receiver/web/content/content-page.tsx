import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { messageOf, request } from '../api/requests.js'
import { sendToast } from '../shell/toast.js'
import { visible } from '../text/visible.js'
import { SheetTitle } from '../view/sheet-title.js'
import { go, view } from '../view/view.js'
import type { ContentType } from './content-type.js'
import { EntryList } from './entry-list.js'

const maxTypes = 1000
const types = signal<readonly ContentType[] | undefined>(undefined)
const problem = signal<string | undefined>(undefined)

async function loadTypes(project: string): Promise<void> {
  try {
    const path = `/ng-cms/content-types/${encodeURIComponent(project)}?from=1&to=${maxTypes}`
    types.value = (await request<{ list: ContentType[] }>(path)).list
    problem.value = undefined
  } catch (error) {
    problem.value = messageOf(error)
  }
}

/** Content types with their schemas and entries. */
export function ContentPage({ bucket }: { readonly bucket: string }) {
  useEffect(() => void loadTypes(bucket), [bucket])
  const open = types.value?.find(({ key }) => key === view.value.type) ?? types.value?.[0]
  return (
    <div class="sheet">
      <SheetTitle title="Content" />
      {problem.value !== undefined && <p class="problem">{problem.value}</p>}
      {types.value?.length === 0 && <p class="nothing">This project has no content types.</p>}
      {open !== undefined && (
        <div class="content">
          <ul class="types" aria-label="Content types">
            {types.value!.map(({ key, name }) => (
              <li key={key}>
                <button
                  type="button"
                  class="choice"
                  aria-current={key === open.key ? 'true' : undefined}
                  onClick={() => go({ type: key })}
                >
                  {visible(name)} <span class="dim">{visible(key)}</span>
                </button>
              </li>
            ))}
          </ul>
          <TypeSheet key={open.id} type={open} project={bucket} />
        </div>
      )}
    </div>
  )
}

function TypeSheet({ type, project }: { readonly type: ContentType; readonly project: string }) {
  const archive = async () => {
    if (
      !confirm(
        `Archive the content type ${type.key}? It takes no entries any more, and its entries are no longer shown.`,
      )
    ) {
      return
    }
    try {
      const path = `/ng-cms/content-types/${encodeURIComponent(project)}/${encodeURIComponent(type.key)}`
      await request(path, { method: 'DELETE' })
      go({ type: undefined })
      await loadTypes(project)
    } catch (error) {
      sendToast(`The type was not archived: ${messageOf(error)}`)
    }
  }
  return (
    <div class="type">
      <header>
        <h2>{visible(type.name)}</h2>
        <span class="dim">version {type.schemaVersion} of the schema</span>
        <button type="button" class="quiet" onClick={archive}>
          Archive
        </button>
      </header>
      {type.description !== '' && <p>{visible(type.description)}</p>}
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Label</th>
            <th scope="col">Type</th>
            <th scope="col">Rules</th>
          </tr>
        </thead>
        <tbody>
          {type.schema.map(({ key, label, type: kind, required, maxLength }) => (
            <tr key={key}>
              <th scope="row">
                <code>{key}</code>
              </th>
              <td>{visible(label)}</td>
              <td>{kind}</td>
              <td class="dim">
                {[required ? 'required' : '', maxLength === undefined ? '' : `at most ${maxLength} characters`]
                  .filter((rule) => rule !== '')
                  .join(', ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <EntryList type={type} project={project} />
    </div>
  )
}
