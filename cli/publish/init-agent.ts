import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { addOnce } from '../../operations/gitops/add-once.ts'
import { fetchedEvents } from '../../operations/publish/fetched-events.ts'
import { openRequest } from '../../operations/publish/request.ts'
import type { Context } from '../command.ts'
import { withDeadline } from '../deadline.ts'
import type { Progress } from '../progress/events.ts'
import { startProgress } from '../progress/progress.ts'
import { toTerminal } from '../terminal-events.ts'
import { agentFile, type InitAgentValues } from './agent-file.ts'
import { next, told } from './agent-words.ts'
import { requestLines } from './request-text.ts'

/** Commits the object by which a controller syncs an environment, or prints it. Gives the exit status. */
export async function initAgent(context: Context, options: InitAgentValues): Promise<number> {
  const { io, logLevel } = context
  if (options.argocd === options.flux)
    throw new UsageError('which controller?', { hint: 'add one of `--argocd` and `--flux`' })
  const hint = 'give it longer with `--timeout`; nothing is half done'
  return withDeadline(io, { timeout: options.timeout, hint }, async signal => {
    const progress = await startProgress(io, logLevel, 'text', () => Date.now())
    return addAgent(context, options, progress, signal)
  })
}

async function addAgent(
  context: Context,
  options: InitAgentValues,
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  const { io } = context
  const on = toTerminal(context, progress, 'text')
  const wanted = await agentFile(context, options)
  if (!wanted) return 1
  if ('printed' in wanted) {
    io.stdout.write(wanted.printed)
    return 0
  }
  const { address, branch, path, textFor, message, project } = wanted
  if (options.print && branch !== undefined) {
    io.stdout.write(textFor(branch))
    return 0
  }
  const rules = project.environment?.publish.pullRequest
  const request = options.pullRequest || rules ? wanted.requestBranch : undefined
  let text = ''
  const added = await addOnce(
    { address, ...(branch !== undefined && { branch }), ...(request !== undefined && { request }) },
    { path, text: branch => (text = textFor(branch)), message, option: '--into' },
    {
      env: io.env,
      signal,
      dryRun: options.dryRun || options.print,
      tell: fetchedEvents(on, address),
    },
  )
  if (added.kind === 'pushed') {
    const { branch, commit } = added.pushed
    progress.tell({ type: 'step', step: 'Pushed', text: `${request ?? branch} ${commit.slice(0, 7)}` })
  }
  progress.pause()
  if (options.print) {
    io.stdout.write(text)
    return 0
  }
  const lines = [...told(added, path, request)]
  if (request !== undefined && (added.kind === 'pushed' || added.kind === 'requested')) {
    const base = added.kind === 'pushed' ? added.pushed.branch : added.branch
    const [title, ...paragraphs] = message.trimEnd().split('\n\n') as [string, ...string[]] // a text has a first line
    const opened = { head: request, base, title, body: `${paragraphs[0]}\n` }
    const place = { address, forge: options.forge, environment: project.environment }
    lines.push(...requestLines(await openRequest({ workspace: io, signal, on }, place, opened)), '')
  }
  io.stdout.write(`${[...lines, ...next(added, path, wanted.toDo)].join('\n')}\n`)
  return 0
}
