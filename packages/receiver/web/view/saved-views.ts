import { signal } from '@preact/signals'
import { go, hashOf, parseView, view } from './view.js'

const maxSavedViews = 100
export const maxNameLength = 100
const storageKey = 'sluice-saved-views'

/** A view under a name that a person has given. */
export interface SavedView {
  readonly name: string
  /** Its address: `#logs?level=error`. */
  readonly hash: string
}

/** The saved views of this browser, by name. */
export const savedViews = signal<readonly SavedView[]>(stored())

// Another tab saves and deletes, too.
window.addEventListener('storage', ({ key }) => {
  if (key === storageKey || key === null) savedViews.value = stored()
})

/**
 * Saves the present view. A view of the same name is replaced.
 *
 * @throws when there are too many already, or the browser does not store it
 */
export function saveView(name: string): void {
  const others = stored().filter((saved) => saved.name !== name)
  if (others.length >= maxSavedViews) throw new Error(`there are ${maxSavedViews} already; delete one first`)
  store([...others, { name, hash: hashOf(view.value) }])
}

/** @throws when the browser does not store the rest */
export function deleteView(name: string): void {
  store(stored().filter((saved) => saved.name !== name))
}

export function openView({ hash }: SavedView): void {
  go(parseView(hash))
}

function store(views: readonly SavedView[]): void {
  const sorted = views.toSorted((a, b) => a.name.localeCompare(b.name))
  localStorage.setItem(storageKey, JSON.stringify(sorted))
  savedViews.value = sorted
}

/** Anything may stand in the browser's store, and it may be shut. */
function stored(): readonly SavedView[] {
  try {
    const views: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]')
    return Array.isArray(views) ? views.filter(isSavedView).slice(0, maxSavedViews) : []
  } catch {
    return []
  }
}

function isSavedView(value: unknown): value is SavedView {
  const { name, hash } = (value ?? {}) as Record<keyof SavedView, unknown>
  return typeof name === 'string' && typeof hash === 'string'
}
