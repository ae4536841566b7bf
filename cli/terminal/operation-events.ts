import type { OperationEvent } from '../../api/events.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { diagnosticsToJson } from '../../compiler/diagnostics/render/json.ts'
import type { UpQuestions } from '../../develop/context.ts'
import type { JobOverview } from '../../environment/status/jobs.ts'
import type { LogEvent } from '../../operations/logs/events.ts'
import type { Context, LogLevel } from '../command.ts'
import { developNote, emptiedText, emptiedWarning, forwardSteps, fullWarning, syncLine } from './develop/event-text.ts'
import { isAgreed } from './io.ts'
import { problemObject, writeObject } from './objects.ts'
import { destroyStoppedText, printDestroyed } from './print-destroyed.ts'
import { printOutcome } from './print-outcome.ts'
import type { Progress } from './progress/events.ts'
import type { ProgressForm } from './progress/progress.ts'
import { stepOf } from './publish/steps.ts'
import { printDiagnostics, printSummary, printWarning } from './report.ts'
import { statesText } from './service-states-text.ts'

/**
 * Returns a handler that prints the events of an operation or shows them as progress. An operation may report a warning
 * or note about the files more than once, for example again for its images; the handler prints it only once.
 */
export function toTerminal(context: Context, progress: Progress, form: ProgressForm): (event: OperationEvent) => void {
  const printed = new Set<string>()
  return event => {
    switch (event.type) {
      case 'diagnostics': {
        const fresh = withoutPrinted(event.diagnostics, printed)
        if (fresh.length === 0) return
        progress.pause()
        return report(context, form, fresh, event.seen)
      }
      case 'stopped':
        progress.pause()
        return void context.io.stderr.write(stoppedText(event))
      case 'destroy-stopped':
        progress.pause()
        return void context.io.stderr.write(destroyStoppedText(event))
      case 'destroyed':
        progress.pause()
        return printDestroyed(context, event.outcome)
      case 'dependency':
        progress.pause()
        return void printOutcome(context, form, event.outcome)
      case 'warning':
      case 'sync-full':
      case 'sync-stopped': {
        const warning =
          event.type === 'warning' ? event : event.type === 'sync-full' ? fullWarning(event) : emptiedWarning(event)
        progress.pause()
        if (form === 'json')
          return writeObject(context.io.stdout, problemObject('warning', { message: warning.text, hint: warning.hint }))
        return printWarning(warning, context.io, context.logLevel)
      }
      case 'secret':
        progress.pause()
        return void context.io.stdout.write(secretText(event))
      case 'request-closed':
        progress.pause()
        return printSummary(`closed ${event.url}`, context.io, context.logLevel)
      case 'choice':
        if (context.logLevel === 'info' || context.logLevel === 'debug')
          progress.tell({ type: 'note', text: event.text })
        return
      case 'push-failed':
        return
      case 'left-out':
      case 'no-pod':
      case 'no-run':
      case 'too-many-logs':
      case 'container-ended':
      case 'log-unreadable':
      case 'log-note': {
        const text = logEventText(event, context.logLevel)
        return text === undefined ? undefined : void context.io.stderr.write(`${text}\n`)
      }
      case 'compiled':
      case 'fetched':
      case 'tag-read':
      case 'promoting':
      case 'written':
      case 'pushed':
      case 'artifact-pushed':
        return progress.tell({ type: 'step', ...stepOf(event) })
      case 'sync':
        return progress.tell(syncLine(event))
      case 'forwards':
        for (const [step, text] of forwardSteps(event)) progress.tell({ type: 'step', step, text })
        return
      case 'taken':
        return progress.tell({ type: 'step', step: event.dev, text: event.text })
      case 'ssh':
        return progress.tell({ type: 'step', step: 'SSH', text: event.command })
      case 'session-ended':
        return
      case 'sync-problem':
      case 'sync-conflict':
      case 'sync-large':
      case 'sync-tool-file':
      case 'sync-deleted':
      case 'sync-continued':
      case 'sync-room':
        return progress.tell({ type: 'note', text: developNote(event)! })
      default:
        return progress.tell(event)
    }
  }
}

function secretText({ name, namespace, action, keys }: Extract<OperationEvent, { readonly type: 'secret' }>): string {
  return `${action}: secret/${name} in ${namespace}${keys.length > 0 ? ` (${keys.join(', ')})` : ''}\n`
}

/**
 * Returns the diagnostics without warnings and notes that are already in `printed`, and adds the returned diagnostics
 * to `printed`.
 */
function withoutPrinted(diagnostics: readonly Diagnostic[], printed: Set<string>): readonly Diagnostic[] {
  return diagnostics.filter(({ severity, code, message, hint, span, notes }) => {
    const place = span && [span.file.location, span.start, span.end]
    const key = JSON.stringify([severity, code, message, hint, notes, place])
    if (severity !== 'error' && printed.has(key)) return false
    printed.add(key)
    return true
  })
}

/** Prints diagnostics in the output format. In text output, diagnostics in `seen` are only counted. */
export function report(
  { io, logLevel }: Context,
  form: ProgressForm,
  diagnostics: readonly Diagnostic[],
  seen?: ReadonlySet<Diagnostic>,
): void {
  if (form === 'text') printDiagnostics(diagnostics, io, logLevel, seen)
  else for (const one of diagnosticsToJson(diagnostics)) writeObject(io.stdout, { type: 'diagnostic', ...one })
}

/**
 * Returns the text about the state of an environment when its deploy stops early: at its deadline, by Ctrl-C, or
 * because the cluster is unreachable.
 */
export function stoppedText({
  environment,
  namespace,
  isBegun,
  services,
  waits,
}: Omit<Extract<OperationEvent, { readonly type: 'stopped' }>, 'type'>): string {
  if (!isBegun) return `nothing was changed for ${environment} in ${namespace}\n`
  const states = statesText(services, waits)
  return `${environment} is partly deployed to ${namespace}${states && `: ${states}`}. Deploy again to continue\n`
}

/** Returns the text of an event other than a log line; undefined if it is not printed at this log level. */
export function logEventText(event: LogEvent, logLevel: LogLevel): string | undefined {
  if (logLevel === 'error') return undefined
  switch (event.type) {
    case 'left-out':
      return `\`${event.service}\` has \`attach: false\` and is left out; \`devctl logs ${event.service}\` shows it`
    case 'no-pod': {
      const { environment, namespace, isFiltered, follows } = event
      const whose = environment === undefined ? namespace : `${environment} in ${namespace}`
      return `${whose} has no${isFiltered ? ' matching' : ''} Pods yet${follows ? '; waiting for Pods' : ''}`
    }
    case 'no-run':
      return `${event.jobs.map(noLogText).join('\n')}${event.follows ? '; waiting for the next run' : ''}`
    case 'too-many-logs':
      return `more than ${event.most} containers have logs: the others follow when one of these ends; use a pattern to select fewer`
    case 'container-ended': {
      const { name } = event.source
      const { code, reason } = event.exit
      if (code === 0 && logLevel !== 'info' && logLevel !== 'debug') return undefined
      const why = reason && reason !== 'Error' && reason !== 'Completed' ? ` (${reason})` : ''
      return `${name} ended with exit code ${code}${why}`
    }
    case 'log-unreadable':
      return `could not read the log of ${event.source.name}${event.follows ? ', retrying' : ''}: ${event.reason}`
    case 'log-note':
      return `${event.source.name}: ${event.text}`
  }
}

/** Returns why a job has no log: it has not run, or the Pod of its last run no longer exists. */
function noLogText({ job, trigger, runs: [run], lastRun }: JobOverview): string {
  const again = trigger === 'deploy' ? `devctl deploy --rerun ${job}` : `devctl run ${job}`
  if (run && (run.state === 'succeeded' || run.state === 'failed')) {
    const ended = run.ended === undefined ? 'has' : `ended at ${run.ended} and has`
    return `the last run of ${job}, ${run.name}, ${ended} ${run.state}; its Pod and log are gone; \`${again}\` runs it again`
  }
  if (run) return `the run ${run.name} of ${job} has no Pod; \`devctl events\` may show why`
  if (lastRun !== undefined)
    return `the last run of ${job}, of ${lastRun}, is gone with its Pod and log; \`${again}\` runs it again`
  return `${job} has no run yet: \`${again}\` starts one`
}

/** Returns the functions that ask the user at the terminal; empty without a terminal. */
export function questionsFor({ io }: Context, progress: Progress): UpQuestions {
  const { choose, stderr } = io
  if (!choose) return {}
  const yes = async (question: string) => {
    progress.makeRoom()
    return isAgreed(choose, question)
  }
  return {
    mayCreateNamespace: (namespace, cluster) => yes(`Namespace ${namespace} does not exist in ${cluster}. Create it?`),
    async mayOverwrite(drift) {
      progress.makeRoom()
      for (const { object, path, by } of drift) stderr.write(` ${object}  ${path}  set by ${by.manager}\n`)
      const answers = [{ value: 'overwrite', label: 'overwrite with the values from the files' }, { value: 'stop' }]
      return (await choose('These values were changed by hand.', answers)) === 'overwrite'
    },
    mayDestroyAll: (environment, namespace) =>
      yes(`Destroy ${environment} in ${namespace} with its data and its dependencies?`),
    mayDeleteOfCluster(names) {
      progress.makeRoom()
      for (const name of names) stderr.write(` ${name}\n`)
      return yes(`Also delete ${names.length === 1 ? 'this cluster-scoped object' : 'these cluster-scoped objects'}?`)
    },
    async whatOfEmptied(folder, signal) {
      progress.makeRoom()
      const [back, other] = folder.side === 'local' ? ['from the container', 'in the container'] : ['to it', 'here']
      const answers = [
        { value: 'leave', label: 'leave them: nothing is deleted, and the folder is not synchronized' },
        { value: 'restore', label: `bring them back ${back}` },
        { value: 'delete', label: `delete them ${other}, too` },
      ]
      const answer = await choose(`${emptiedText(folder)}. What now?`.replace(/^a/, 'A'), answers, signal)
      return answer === 'restore' || answer === 'delete' ? answer : undefined
    },
    maySetUpSsh: (line, host) => yes(`Add \`${line}\` to ~/.ssh/config, so that \`ssh ${host}\` works?`),
    mayDestroyNeeded: (services, why) => yes(`${why}. Destroy ${services.join(', ')} anyway?`),
  }
}
