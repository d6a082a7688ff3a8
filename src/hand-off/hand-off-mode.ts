/**
 * The modes of the application's side of an engine.
 *
 * - `waiting`: no worker takes lines now. They are kept within the bound.
 * - `connected`: a worker takes lines.
 * - `inline`: no worker can be started. An engine in this thread delivers.
 * - `closed`: all records are refused, and the ledger answers every call.
 *
 *     start ─▶ waiting ── attached() ───▶ connected       any mode ── close() ──▶ closed
 *               │    ▲                    │     │
 *               │    └──── detached() ────┘     │
 *               └─▶ inline ◀── cannotStart() ───┘
 */
export type HandOffMode = 'waiting' | 'connected' | 'inline' | 'closed'

/** The modes that may follow each mode. */
export const nextModes: Readonly<Record<HandOffMode, readonly HandOffMode[]>> = {
  waiting: ['connected', 'inline', 'closed'],
  connected: ['waiting', 'inline', 'closed'],
  inline: ['closed'],
  closed: [],
}
