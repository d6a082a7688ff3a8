import { useEffect, useRef } from 'preact/hooks'

type Keys = Readonly<Record<string, () => unknown>>

/** Calls a function when its key is pressed, unless the person types or a button has the focus that would take the key. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      const target = event.target as Element
      if (target.closest('input:not([type=checkbox]), select, textarea, dialog[open]') !== null) return
      if ((event.key === ' ' || event.key === 'Enter') && target.closest('button, a, summary, input') !== null) return
      const action = current.current[event.key]
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}
