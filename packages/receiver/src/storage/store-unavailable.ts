/** The store cannot be reached, or cannot promise that what it writes is kept. Nothing of the write is acknowledged. It may be tried again. */
export class StoreUnavailableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreUnavailableError'
  }
}

/** A request that the store could not serve is tried again after this time, in s. */
export const storeAwaitedS = 1
