import type { LaneName } from '../delivery/ledger.js'
import type { Observer } from '../delivery/observer.js'
import { gapText, mostRecordChars } from '../diagnostics/reporter.js'
import type { EngineReporter } from '../engine/engine-setting.js'
import type { SluiceErrorCode } from '../errors/sluice-error.js'
import { type Clock, queueMicrotask } from '../runtime/clock.js'

/** What has happened to the records of an engine in the worker. The reporter in the application's thread has a method for each kind. */
export type News =
  /** Records were given up since the last news of this kind: the ledger has their numbers. */
  | { readonly type: 'dropped' }
  | NewsOf<'rejected'>
  | NewsOf<'paused'>
  | NewsOf<'outage'>
  | { readonly type: 'resumed'; readonly lane: LaneName }
  | { readonly type: 'unreachable' }
  | {
      readonly type: 'misused'
      readonly code: SluiceErrorCode
      readonly text: string
      readonly kind: string | undefined
    }

type Told = 'rejected' | 'paused' | 'outage'
interface NewsOf<Type extends Told> {
  readonly type: Type
  readonly lane: LaneName
  readonly about: Parameters<Observer[Type]>[1]
}

/** Report what a worker has told, except for drops: the application's side reads them in the ledger. */
export function report(reporter: EngineReporter, news: Exclude<News, { readonly type: 'dropped' }>): void {
  if (news.type === 'rejected') reporter.rejected(news.lane, news.about)
  else if (news.type === 'paused') reporter.paused(news.lane, news.about)
  else if (news.type === 'outage') reporter.outage(news.lane, news.about)
  else if (news.type === 'resumed') reporter.resumed(news.lane)
  else if (news.type === 'misused') reporter.misused(news.code, news.text, news.kind)
  else reporter.unreachable?.()
}

/** The reporter of an engine in the worker: it holds nothing back, for its thread may end at any moment. */
export function newsReporter(plan: {
  readonly clock: Clock
  readonly post: (news: News) => void
  /** Delivers a log record of level warn. */
  readonly warn: (message: string) => void
}): EngineReporter {
  const { clock, post, warn } = plan
  let isTelling = false
  return {
    dropped(_lane, { reason }) {
      // The application's side reports the records that its close drops.
      if (reason === 'shutdown' || isTelling) return
      isTelling = true
      queueMicrotask(() => {
        isTelling = false
        post({ type: 'dropped' })
      })
    },
    rejected: (lane, about) =>
      post({ type: 'rejected', lane, about: { ...about, body: about.body.slice(0, mostRecordChars) } }),
    paused: (lane, about) => post({ type: 'paused', lane, about }),
    outage: (lane, about) => post({ type: 'outage', lane, about }),
    resumed: (lane) => post({ type: 'resumed', lane }),
    unreachable: () => post({ type: 'unreachable' }),
    misused: (code, text, kind) => post({ type: 'misused', code, text, kind }),
    recovered: (lane, losses) => warn(gapText(lane, losses, clock)),
    ended() {},
    tellAll() {},
  }
}
