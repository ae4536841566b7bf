/** Message for callers without a valid login, if the platform knows nothing more specific. */
export const LOG_IN_FIRST = 'log in first'
