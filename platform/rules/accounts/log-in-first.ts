/** The message to who has no valid login, where the platform does not know more of them. */
export const LOG_IN_FIRST = 'log in first'
