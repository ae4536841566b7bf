import type { Candidate } from './completion.ts'

/** Returns the codes of `devctl explain`. */
export const codeCandidates = (): readonly Candidate[] => []
