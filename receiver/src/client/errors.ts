import type * as library from 'sluice/content'
import * as own from '../../../src/content/api-error.js'
import * as base from '../../../src/errors/sluice-error.js'

// The classes that this client throws: the package brings the code of its requests, so they are not those of `sluice`. Their types are.
export const ApiError: typeof library.ApiError = own.ApiError
export type ApiError = library.ApiError
export const ConfigError: typeof library.ConfigError = base.ConfigError
export type ConfigError = library.ConfigError
export const SluiceError: typeof library.SluiceError = base.SluiceError
export type SluiceError = library.SluiceError
