/** An error as Node makes it of a failed call of the system. `serverKnows` of the product reads its `syscall`. */
export function systemError(code: string, { syscall, target = '' }: { syscall: string; target?: string }): Error {
  return Object.assign(new Error(`${syscall} ${code}${target === '' ? '' : ` ${target}`}`), { code, syscall })
}

/** The error of a connector. */
export function connectTimeout(target: string, timeoutMs: number): Error {
  return Object.assign(new Error(`no connection within ${timeoutMs} ms (tried ${target})`), { code: 'ETIMEDOUT' })
}
