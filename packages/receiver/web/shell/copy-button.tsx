import { useState } from 'preact/hooks'

interface CopyProps {
  /** The name of the button. */
  readonly label: string
  /** The text as it is, with all its control characters. */
  readonly text: () => string
}

/** A button that copies a text, and says that it has. */
export function CopyButton({ label, text }: CopyProps) {
  const [result, setResult] = useState<string | undefined>(undefined)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      setResult('Copied')
    } catch {
      setResult('Not allowed')
    }
    setTimeout(setResult, 1500, undefined)
  }
  return (
    <button type="button" class="quiet" onClick={copy}>
      {result ?? label}
    </button>
  )
}
