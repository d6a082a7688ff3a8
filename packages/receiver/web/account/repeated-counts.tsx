import { usePolled } from '../api/polling.js'

interface Account {
  readonly repeated: { readonly logs: number; readonly values: number }
}

/** The records that came more than once since the start of the receiver. */
export function RepeatedCounts({ bucket }: { readonly bucket: string }) {
  const { answer, problem } = usePolled<Account>(`/api/account?bucket=${encodeURIComponent(bucket)}`)
  return (
    <section class="card" aria-label="Repeated attempts">
      <h2>Repeated attempts</h2>
      {problem !== undefined && <p class="problem">{problem}</p>}
      {answer !== undefined && (
        <p>
          {answer.repeated.logs.toLocaleString('en')} logs and {answer.repeated.values.toLocaleString('en')} values came
          again since the start of the receiver, and are stored once.
        </p>
      )}
    </section>
  )
}
