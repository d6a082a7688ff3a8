/** The fields with known values. */
export const namedFields = ['appName', 'env', 'machineName', 'appVersion', 'eventId'] as const
/** At most this number of values of a field is known. */
export const maxNames = 1000
/** A longer value, as JSON, is not known. */
export const maxNameLength = 200
