/** An error as Node makes it of a failed call of the system. `serverKnows` of the product reads its `syscall`. */
export function systemError(code: string, { syscall, target = '' }: { syscall: string; target?: string }): Error {
  return Object.assign(new Error(`${syscall} ${code}${target === '' ? '' : ` ${target}`}`), { code, syscall })
}

/** The error of undici's connector. */
export function connectTimeout(target: string, timeoutMs: number): Error {
  const error = new Error(`Connect Timeout Error (attempted address: ${target}, timeout: ${timeoutMs}ms)`)
  return Object.assign(error, { name: 'ConnectTimeoutError', code: 'UND_ERR_CONNECT_TIMEOUT' })
}
