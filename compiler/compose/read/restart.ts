import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import type { At } from '../../text/source.ts'
import { spanInside } from '../../text/span-inside.ts'
import type { MapTree, ScalarTree } from '../../text/tree.ts'
import type { Restart } from '../project.ts'
import type { ReadContext } from './context.ts'
import { checkCount } from './counts.ts'
import { integer, scalar } from './tree-values.ts'

type Policy = 'always' | 'on-failure' | 'no'

// The values of `restart` and `deploy.restart_policy.condition`. Both keys accept all of them:
// https://github.com/compose-spec/compose-spec/blob/main/05-services.md#restart and deploy.md. The schema has already
// refused other values.
const policies: ReadonlyMap<string, Policy> = new Map([
  ['always', 'always'],
  ['unless-stopped', 'always'],
  ['any', 'always'],
  ['no', 'no'],
  ['none', 'no'],
  ['never', 'no'],
  ['on-failure', 'on-failure'],
])

const contradiction = diagnostic({
  code: 'restart/contradiction',
  severity: 'warning',
  explain:
    'The service has both `restart` and `deploy.restart_policy.condition`, and they differ. The condition under `deploy` wins. Remove one of them.',
  text: (p: { restart: string; condition: string }) => ({
    message: `\`restart: ${p.restart}\` is ignored: \`deploy.restart_policy\` has the condition \`${p.condition}\``,
    hint: 'remove one of the two',
  }),
})

/**
 * Combines `restart` and `deploy.restart_policy`. The condition in `deploy` takes precedence. Reports a `restart` with
 * a different policy.
 */
export function readRestart(service: MapTree, { reporter }: ReadContext): Restart {
  const restart = scalar(service, 'restart')
  const condition = scalar(service, 'deploy', 'restart_policy', 'condition')
  const own: Restart = restart ? readWord(restart) : {}
  const deployed = condition && readWord(condition).policy
  if (restart && condition && own.policy && deployed && own.policy.value !== deployed.value)
    reporter.report(
      contradiction,
      restart.span,
      { restart: String(restart.value), condition: String(condition.value) },
      [{ span: condition.span, message: 'this one wins' }],
    )
  const policy = deployed ?? own.policy
  checkCount(own.maxAttempts, 'restart', reporter, 'write a smaller number, or `on-failure` alone for no limit')
  // The number of `on-failure:3` applies only if the resulting policy is on-failure.
  const attempts = readMaxAttempts(service, reporter) ?? (policy?.value === 'on-failure' ? own.maxAttempts : undefined)
  // Zero means no limit, both in `on-failure:0` and in `max_attempts: 0`.
  const maxAttempts = attempts?.value === 0 ? undefined : attempts
  const key = deployed ? 'deploy.restart_policy.condition' : 'restart'
  return { ...(policy && { policy, key }), ...(maxAttempts && { maxAttempts }) }
}

/**
 * Parses a restart policy; `on-failure` may be followed by a number of attempts. Returns no policy for unknown words.
 */
function readWord(found: ScalarTree): Restart {
  const [, word = '', count] = /^([^:]*)(?::(.*))?$/s.exec(String(found.value)) ?? []
  const known = policies.get(word)
  if (!known) return {}
  const policy: At<Policy> = { value: known, span: found.span }
  if (count === undefined) return { policy }
  const span = spanInside(found, word.length + 1, word.length + 1 + count.length)
  return { policy, maxAttempts: { value: Number(count), span } }
}

function readMaxAttempts(service: MapTree, reporter: Reporter): At<number> | undefined {
  const found = integer(service, 'deploy', 'restart_policy', 'max_attempts')
  return checkCount(found, 'max_attempts', reporter, 'write a smaller number, or leave it out for no limit')
}
