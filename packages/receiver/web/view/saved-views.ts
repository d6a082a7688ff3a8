import { signal } from '@preact/signals'
import { messageOf, request } from '../api/requests.js'
import { sendToast } from '../shell/toast.js'
import { go, hashOf, parseView, view } from './view.js'

export const maxNameLength = 100
/** Where this browser kept saved views before the receiver did. */
const storageKey = 'sluice-saved-views'

/** A view under a name that a person has given. */
export interface SavedView {
  readonly name: string
  /** Its address: `#logs?level=error`. */
  readonly hash: string
}

/** The saved views of the receiver, by name, as they were when they were last asked for. */
export const savedViews = signal<readonly SavedView[]>([])

/** Asks for the saved views. Views that this browser has kept are moved to the receiver. */
export async function readViews(): Promise<void> {
  try {
    await list()
    await moveFromBrowser()
  } catch (error) {
    sendToast(`The saved views are not read: ${messageOf(error)}`)
  }
}

/** Saves the present view. A view of the same name is replaced. */
export async function saveView(name: string): Promise<void> {
  await put({ name, hash: hashOf(view.value) })
  await list()
}

export async function deleteView(name: string): Promise<void> {
  await request(pathOf(name), { method: 'DELETE' })
  await list()
}

export function openView({ hash }: SavedView): void {
  go(parseView(hash))
}

async function list(): Promise<void> {
  savedViews.value = (await request<{ list: readonly SavedView[] }>('/api/views')).list
}

async function put({ name, hash }: SavedView): Promise<void> {
  await request(pathOf(name), { method: 'PUT', body: { hash } })
}

function pathOf(name: string): string {
  if (/^\.\.?$/.test(name)) throw new Error('a name must have more than dots')
  return `/api/views/${encodeURIComponent(name)}`
}

/** A view that the receiver does not take stays in the browser. */
async function moveFromBrowser(): Promise<void> {
  const all = keptInBrowser()
  if (all.length === 0) return
  let left = all
  let problem = ''
  for (const kept of all) {
    try {
      await put({ ...kept, name: freeName(kept) })
      left = left.filter((other) => other !== kept)
      if (left.length === 0) localStorage.removeItem(storageKey)
      else localStorage.setItem(storageKey, JSON.stringify(left))
      await list()
    } catch (error) {
      problem = messageOf(error)
    }
  }
  const moved = all.length - left.length
  if (moved > 0) sendToast(`Saved views of this browser are now at the receiver, for all who sign in: ${moved}.`)
  if (left.length > 0) sendToast(`Saved views that stay in this browser: ${left.length}. ${problem}`)
}

/** The name of the view, with a number where the receiver has another view of this name. */
function freeName({ name, hash }: SavedView): string {
  const isTaken = (wanted: string) => savedViews.value.some((saved) => saved.name === wanted && saved.hash !== hash)
  let free = name
  for (let number = 2; isTaken(free); number++) free = `${name} (${number})`
  return free
}

/** Anything may stand in the browser's store, and it may be shut. */
function keptInBrowser(): readonly SavedView[] {
  try {
    const views: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]')
    return Array.isArray(views) ? views.filter(isSavedView) : []
  } catch {
    return []
  }
}

function isSavedView(value: unknown): value is SavedView {
  const { name, hash } = (value ?? {}) as Record<keyof SavedView, unknown>
  return typeof name === 'string' && typeof hash === 'string'
}
