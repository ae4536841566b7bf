import { failureSummary } from '../../../compiler/diagnostics/render/summary.ts'
import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import { type InitOutcome, initGitops } from '../../../gitops/init/init.ts'
import type { InitInput } from '../../../gitops/init/input.ts'
import type { Context } from '../../command.ts'
import type { InitAgentValues } from '../../commands/gitops.ts'
import { agentSettings } from '../../options/agent.ts'
import { toTerminal } from '../../terminal/operation-events.ts'
import { startProgress } from '../../terminal/progress/progress.ts'
import { requestLines } from '../../terminal/publish/request-text.ts'
import { withDeadline } from '../deadline.ts'

/** Commits the object that makes a controller sync an environment, or prints it. Returns the exit status. */
export async function initAgent(context: Context, options: InitAgentValues): Promise<number> {
  const { io, logLevel } = context
  const { argocd, flux, print } = options
  if (argocd === flux) throw new UsageError('which controller?', { hint: 'add one of `--argocd` and `--flux`' })
  const hint = 'wait longer with `--timeout`; nothing was done partially'
  return withDeadline(io, { timeout: options.timeout, hint }, async signal => {
    const progress = await startProgress(io, logLevel, 'text', () => Date.now())
    const world = { workspace: io, signal, on: toTerminal(context, progress, 'text') }
    const settings = agentSettings(options, argocd)
    const input: InitInput = { ...options, controller: argocd ? 'argocd' : 'flux', settings, isTextOnly: print }
    const outcome = await initGitops(world, input).finally(() => progress.pause())
    return printAdded(context, outcome)
  })
}

function printAdded({ io }: Context, outcome: InitOutcome): number {
  switch (outcome.kind) {
    case 'refused':
      io.stderr.write(`${failureSummary(outcome.diagnostics, 'nothing was committed')}\n`)
      return 1
    case 'text':
      io.stdout.write(outcome.text)
      return 0
    default: {
      const { request } = outcome
      const lines = [...addedLines(outcome), ...(request ? [...requestLines(request), ''] : []), ...nextLines(outcome)]
      io.stdout.write(`${lines.join('\n')}\n`)
      return 0
    }
  }
}

type Added = Exclude<InitOutcome, { readonly kind: 'refused' | 'text' }>

/** Returns the lines that say whether the file with the object was added, would be added, or already existed. */
function addedLines(added: Added): readonly string[] {
  const { path, requestBranch } = added
  switch (added.kind) {
    case 'pushed':
      return [
        `added: ${path} (${requestBranch ?? added.pushed.branch} ${added.pushed.commit.slice(0, 7)})`,
        ...(added.listedIn === undefined ? [] : [`listed in: ${added.listedIn}`]),
      ]
    case 'requested':
      return [`unchanged: \`${requestBranch}\` has ${path} already`]
    case 'planned':
      return [
        `would be added to ${added.branch}: ${path}`,
        ...(added.listedIn === undefined ? [] : [`would be listed in: ${added.listedIn}`]),
        '',
        added.text.trimEnd(),
      ]
    case 'there':
      return [
        `unchanged: ${path} is there already${added.isSame ? '' : ', and differs from what devctl would write (`--print`)'}`,
      ]
  }
}

/** Returns the lines that list the remaining steps. */
function nextLines({ kind, path, toDo }: Added): readonly string[] {
  if (kind !== 'pushed' && kind !== 'requested') return []
  return [`next, in a checkout of the repository, once: \`kubectl apply -f ${path}\``, ...toDo]
}
