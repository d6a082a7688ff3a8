import { useState } from 'preact/hooks'
import { type LogRecord, timeOf } from '../api/records.js'
import { CopyButton } from '../shell/copy-button.js'
import { contextValues, partsOf, textOfJson } from '../text/message-parts.js'
import { fullTime, isoTime } from '../text/time.js'
import { visible } from '../text/visible.js'
import { addCondition, go, hashOf, view } from '../view/view.js'
import { JsonTree } from './json-tree.js'
import { levelClass } from './levels.js'
import { contextPrefix } from './record-filter.js'
import { Stack } from './stack.js'
import { threads } from './threads.js'
import { ValueActions } from './value-actions.js'

const fields = ['level', 'appName', 'machineName', 'env', 'appVersion', 'eventId', 'runtimeVersion', 'runtime'] as const
/** A longer text is shown on demand: it would take the browser long to lay it out. */
const maxChars = 20_000

interface DetailsProps {
  readonly record: LogRecord
  readonly onClose: () => void
}

/** Everything about one record. */
export function RecordDetails({ record, onClose }: DetailsProps) {
  const { text, context, error } = partsOf(record)
  const known = new Set(contextValues(record).map(({ path, json }) => `${path}:${json}`))
  return (
    <aside role="complementary" class="details" aria-label="Details">
      <header>
        <span class={`badge ${levelClass(record.level)}`}>{visible(record.level)}</span>
        <time dateTime={isoTime(timeOf(record))}>{fullTime(timeOf(record))}</time>
        <button type="button" class="quiet close" aria-label="Close the details" onClick={onClose}>
          ✕
        </button>
      </header>
      <div class="body" tabIndex={0}>
        <LongText text={text} />
        {error !== '' && <Stack text={error.length > maxChars ? `${error.slice(0, maxChars)}…` : error} />}
        {context !== undefined && (
          <section aria-label="Context">
            <h2>Context</h2>
            <JsonTree value={context} key={record.id} known={known} />
          </section>
        )}
        <section aria-label="Fields">
          <h2>Fields</h2>
          <dl>
            {fields.map((field) => {
              const value = record[field]
              if (value === undefined) return null
              return (
                <div key={field}>
                  <dt>{field}</dt>
                  <dd>
                    <span class="value">{visible(String(value))}</span>
                    <ValueActions field={field} value={String(value)} />
                  </dd>
                </div>
              )
            })}
            <div>
              <dt>receivedAt</dt>
              <dd>{fullTime(Date.parse(record.receivedAt))}</dd>
            </div>
            <div>
              <dt>id</dt>
              <dd>{record.id}</dd>
            </div>
          </dl>
        </section>
      </div>
      <Actions record={record} />
    </aside>
  )
}

function LongText({ text }: { readonly text: string }) {
  const [all, setAll] = useState(false)
  const cut = !all && text.length > maxChars
  return (
    <>
      <pre class="message">
        {(cut ? [text.slice(0, maxChars).toWellFormed()] : chunksOf(text)).map((chunk, index) => (
          <span key={`${index}`} class="chunk">
            {visible(chunk)}
          </span>
        ))}
      </pre>
      {cut && (
        <button type="button" class="mini" onClick={() => setAll(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </button>
      )}
    </>
  )
}

/** A text in pieces that the browser lays out one by one, as they come into the window. They end at a space where there is one. */
function chunksOf(text: string): string[] {
  const chunks: string[] = []
  for (let from = 0; from < text.length; ) {
    const space = text.lastIndexOf(' ', from + maxChars)
    const end = text.length - from <= maxChars ? text.length : space > from ? space + 1 : from + maxChars
    chunks.push(text.slice(from, end).toWellFormed())
    from = end
  }
  return chunks
}

function Actions({ record }: { readonly record: LogRecord }) {
  const permalink = () => new URL(hashOf({ ...view.value, id: record.id, around: record.id }), location.href).href
  const around = () =>
    go({
      ...{ text: '', levels: [], not: [], since: undefined, until: undefined, grouped: false },
      only: [
        { field: 'appName', value: record.appName },
        ...(record.machineName === undefined ? [] : [{ field: 'machineName', value: record.machineName }]),
      ],
      id: record.id,
      around: record.id,
    })
  return (
    <footer>
      <CopyButton label="Copy message" text={() => record.message} />
      <CopyButton label="Copy JSON" text={() => JSON.stringify(record, null, 2)} />
      <CopyButton label="Copy link" text={permalink} />
      <button type="button" class="quiet" onClick={around}>
        Surrounding lines
      </button>
      {threads.map((name) => {
        const json = contextValues(record).find(({ path }) => path === name)?.json
        if (json === undefined) return null
        const show = () => addCondition('only', { field: `${contextPrefix}${name}`, value: textOfJson(json) })
        return (
          <button type="button" class="quiet" key={name} onClick={show}>
            All of this {name}
          </button>
        )
      })}
    </footer>
  )
}
