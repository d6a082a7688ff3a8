import type * as library from 'sluice/content'
import * as own from '../../../../src/content/api-error.js'
import * as base from '../../../../src/errors/sluice-error.js'

// The classes that this client throws: the package brings the code of its requests, so they are not those of `sluice`. Their types are.

/** A failed operation of the receiver. Match on `code`. It contains no key. */
export const ApiError: typeof library.ApiError = own.ApiError
/** A failed operation of the receiver. Match on `code`. It contains no key. */
export type ApiError = library.ApiError

/** A mistake in the configuration: an option or variable that is invalid, missing or unknown. */
export const ConfigError: typeof library.ConfigError = base.ConfigError
/** A mistake in the configuration: an option or variable that is invalid, missing or unknown. */
export type ConfigError = library.ConfigError

/** The base of both. Match on `code`. */
export const SluiceError: typeof library.SluiceError = base.SluiceError
/** The base of both. Match on `code`. */
export type SluiceError = library.SluiceError
