/** Options of the end of the process, which are asked for before any engine has resolved all options. */
export const endOptions = {
  shutdownTimeoutMs: { variable: 'SLUICE_SHUTDOWN_TIMEOUT_MS', default: 5000 },
  handleSignals: { variable: 'SLUICE_HANDLE_SIGNALS', default: true },
} as const
