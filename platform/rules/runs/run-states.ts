export const RUN_ACTIONS = ['deploy', 'destroy'] as const
export type RunAction = (typeof RUN_ACTIONS)[number]

/**
 * States of a run. `stopping`: a stop was requested; `replaced`: a newer run of the environment replaced it; `refused`:
 * its user has lost the permission before or during the run, or its request was incomplete.
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
