import { signal } from '@preact/signals'

const shownMs = 5000
const message = signal<string | undefined>(undefined)
let timer = 0

/** Shows a message for a few seconds. */
export function sendToast(text: string): void {
  message.value = text
  clearTimeout(timer)
  timer = window.setTimeout(() => {
    message.value = undefined
  }, shownMs)
}

export function Toast() {
  return (
    <div class="toast-place" role="status">
      {message.value !== undefined && <div class="toast">{message.value}</div>}
    </div>
  )
}
