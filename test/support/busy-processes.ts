import { spawn } from 'node:child_process'

/** Start processes that compute without a pause, as the neighbours on a busy machine do. Returns the function that ends them. */
export function startBusyProcesses(count: number): () => void {
  const busy = Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
  return () => {
    for (const each of busy) each.kill('SIGKILL')
  }
}
