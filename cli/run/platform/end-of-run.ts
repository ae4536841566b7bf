import type { RunEvent } from '../../../platform/api/runs.ts'
import { hasEnded } from '../../../platform/rules/runs/run-states.ts'

/** True for the last event of a run. If a stream ends without that event, it must be resumed. */
export const isEndOfRun = (event: RunEvent): boolean => event.type === 'state' && hasEnded(event.run.state)
