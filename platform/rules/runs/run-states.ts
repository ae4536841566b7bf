export const RUN_ACTIONS = ['deploy', 'destroy'] as const
export type RunAction = (typeof RUN_ACTIONS)[number]

/**
 * `stopping`: it was told to stop; `replaced`: a newer run of the environment took its place; `refused`: its user had
 * lost the right by its turn.
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

/** True for a final state. */
export const hasEnded = (state: RunState): boolean => !['queued', 'running', 'stopping'].includes(state)
