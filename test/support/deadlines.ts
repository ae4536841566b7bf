/**
 * Longest time in milliseconds that a real server takes to answer one request while other tests keep both processors
 * busy.
 */
export const ANSWER_MS = 120_000
