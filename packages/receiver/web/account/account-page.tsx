import { useEffect, useMemo, useState } from 'preact/hooks'
import type { LiveFeed } from '../api/live-feed.js'
import { StackedBars } from '../charts/stacked-bars.js'
import { minuteMs } from '../charts/steps.js'
import { visible } from '../text/visible.js'
import { SheetTitle } from '../view/sheet-title.js'
import { type Arrivals, arrivalsOf } from './arrivals.js'
import { GapList } from './gap-list.js'
import { RepeatedCounts } from './repeated-counts.js'

const minutes = 30
const redrawMs = 2000
const colours = 8

interface AccountProps {
  readonly arrivals: Arrivals
  readonly feed: LiveFeed
  readonly bucket: string
}

/** Records and bytes per minute of each application, as they arrived while the page was open, what is missing, and what came again. */
export function AccountPage({ arrivals, feed, bucket }: AccountProps) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), redrawMs)
    return () => clearInterval(timer)
  }, [])
  const lastMinute = Math.floor(now / minuteMs)
  const apps = useMemo(() => arrivalsOf(arrivals, { lastMinute, length: minutes }), [arrivals, lastMinute, now])
  return (
    <div class="sheet">
      <SheetTitle title="Account" />
      <p class="dim">Records that arrived while this page was open, by application.</p>
      {apps.length === 0 && <p class="nothing">No record has arrived yet.</p>}
      {apps.length > 0 && (
        <>
          <section class="card" aria-label="Records per minute">
            <h2>Records per minute</h2>
            <StackedBars
              height={200}
              label="Records per minute, by application"
              bars={{
                from: (lastMinute - minutes + 1) * minuteMs,
                to: now,
                starts: Array.from({ length: minutes }, (_, index) => (lastMinute - minutes + 1 + index) * minuteMs),
                stepMs: minuteMs,
                series: apps.map(({ app, records }, index) => ({
                  name: app,
                  colour: `series-${index % colours}`,
                  counts: records,
                })),
              }}
            />
          </section>
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">Application</th>
                <th scope="col" class="number">
                  Records
                </th>
                <th scope="col" class="number">
                  Bytes
                </th>
                <th scope="col" class="number">
                  Last minute
                </th>
              </tr>
            </thead>
            <tbody>
              {apps.map(({ app, records, totalRecords, totalBytes }, index) => (
                <tr key={app}>
                  <th scope="row" class="name">
                    <span class={`dot series-${index % colours}`} aria-hidden="true" /> {visible(app.slice(0, 100))}
                  </th>
                  <td class="number">{totalRecords.toLocaleString('en')}</td>
                  <td class="number">{totalBytes.toLocaleString('en')}</td>
                  <td class="number">{records.at(-2)!.toLocaleString('en')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      <GapList feed={feed} bucket={bucket} />
      <RepeatedCounts bucket={bucket} />
    </div>
  )
}
