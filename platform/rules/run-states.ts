export const RUN_ACTIONS = ['deploy', 'destroy'] as const
export type RunAction = (typeof RUN_ACTIONS)[number]

/**
 * `stopping`: it was told to end; `replaced`: a newer run of the environment took its place; `refused`: it
 * was not allowed any more when its turn came.
 */
export const RUN_STATES = [
  'queued',
  'running',
  'stopping',
  'succeeded',
  'failed',
  'cancelled',
  'replaced',
  'refused',
] as const
export type RunState = (typeof RUN_STATES)[number]

/** True for a state that does not change any more. */
export const hasEnded = (state: RunState): boolean => !['queued', 'running', 'stopping'].includes(state)
