import { useEffect, useState } from 'preact/hooks'
import { isAborted, messageOf, request } from './requests.js'

const everyMs = 2000

/** The newest answer, and the reason why there is no newer one. */
export interface Polled<Answer> {
  readonly answer?: Answer | undefined
  readonly problem?: string | undefined
}

/** Asks the receiver every two seconds, while the page is not hidden. */
export function usePolled<Answer>(path: string): Polled<Answer> {
  const [polled, setPolled] = useState<Polled<Answer>>({})
  useEffect(() => {
    const abort = new AbortController()
    const read = async () => {
      if (document.hidden) return
      try {
        setPolled({ answer: await request<Answer>(path, { signal: abort.signal }) })
      } catch (error) {
        if (isAborted(error)) return
        const problem = messageOf(error)
        setPolled(({ answer }) => ({ answer, problem }))
      }
    }
    setPolled({})
    void read()
    const timer = setInterval(read, everyMs)
    return () => {
      clearInterval(timer)
      abort.abort()
    }
  }, [path])
  return polled
}
