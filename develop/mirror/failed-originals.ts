import type { DeployOutcome } from '../../operations/deploy/outcome.ts'

/**
 * Returns the note about a deploy in which only services under development failed: their programs are replaced anyway,
 * and may be what the user wants to fix. Undefined if the deploy failed in any other way, so that nothing can be
 * developed.
 */
export function failedOriginals(outcome: DeployOutcome, developed: readonly string[]): string | undefined {
  if (outcome.kind !== 'failed' || outcome.ended !== undefined) return undefined
  const inState = (...states: readonly string[]) =>
    [...outcome.services].flatMap(([service, state]) => (states.includes(state) ? [service] : []))
  const failed = inState('not-ready')
  if (failed.length === 0 || failed.some(service => !developed.includes(service))) return undefined
  const waiting = inState('not-made', 'not-changed')
  const verb = failed.length > 1 ? 'are' : 'is'
  const later = waiting.length === 0 ? '' : `; afterwards, \`devctl deploy\` deploys ${waiting.join(', ')}`
  return `${failed.join(', ')} ${verb} not ready, and ${verb} developed nevertheless${later}`
}
