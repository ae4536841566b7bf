import type { SessionLoad } from '../state/session.ts'
import { ProblemBox } from './problem.tsx'

/** Shows why the session is not loaded, with a button to try again. */
export const SessionProblem = ({ of: { problem, retry } }: { readonly of: SessionLoad }) =>
  problem.value ? <ProblemBox problem={problem.value} onRetry={retry} /> : null
