/** The fields with known values. */
export const namedFields = ['appName', 'env', 'machineName', 'appVersion', 'eventId'] as const
/** Only so many values of a field are known. */
export const maxNames = 1000
/** A longer value, as JSON, is not known. */
export const maxNameLength = 200
