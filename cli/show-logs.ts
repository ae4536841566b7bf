import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Reporter } from '../compiler/diagnostics/reporter.ts'
import { didYouMean } from '../compiler/diagnostics/suggest.ts'
import { UsageError, UserError } from '../compiler/diagnostics/user-error.ts'
import { requireNamespace } from '../operations/namespaces.ts'
import type { LogSource } from '../operations/objects/logs/source.ts'
import { findEnvironment, type KnownEnvironment } from '../operations/project/known-environment.ts'
import { openProject, targetOf } from '../operations/project/open-project.ts'
import { type SessionOptions, withCluster } from './cluster-session.ts'
import type { Context } from './command.ts'
import { wantsColour } from './io.ts'
import { LogPrinter } from './log-printer.ts'
import type { LoadingValues } from './project-options.ts'
import { printsDiagnostics } from './report.ts'
import { parsePattern } from './service-pattern.ts'

export interface LogValues extends LoadingValues, Omit<SessionOptions, 'timeout' | 'isEndless'> {
  readonly name: string | undefined
  readonly all: boolean
  readonly exclude: string | undefined
  /** Milliseconds; 0: all. */
  readonly since: number
  /** Lines; undefined: all. */
  readonly tail: number | undefined
  readonly timestamps: boolean
  readonly follow: boolean
}

/** Prints the logs of an environment's services whose names match, until Ctrl-C, or until whoever reads them has enough. */
export async function showLogsOf(context: Context, pattern: string | undefined, options: LogValues): Promise<number> {
  if (pattern !== undefined) refuseFile(pattern, context.io.cwd)
  const wanted = pattern === undefined ? undefined : parsePattern(pattern, 'the name of the service')
  const unwanted = options.exclude === undefined ? undefined : parsePattern(options.exclude, '`--exclude`')
  const { io, logLevel } = context
  const project = await openProject(io, options)
  const environment = options.all
    ? undefined
    : await findEnvironment({ workspace: io, on: printsDiagnostics(context) }, options, project)
  const target = targetOf(project, options)
  const names = environment ? await serviceNames(environment) : []
  const isMuted = mutedServices(names, wanted)
  const tell = (text: string) => {
    if (logLevel !== 'error') io.stderr.write(`${text}\n`)
  }
  const matches = ({ service }: LogSource): boolean => {
    const both = [service, ...names.filter(({ label }) => label === service).map(({ name }) => name)]
    const matched = (regexp: RegExp) => both.some(name => regexp.test(name))
    return !isMuted.has(service) && (!wanted || matched(wanted)) && !(unwanted && matched(unwanted))
  }

  const closed = new AbortController()
  return withCluster(io, { ...options, ...target, logLevel, timeout: undefined, isEndless: true }, async session => {
    const { cluster, namespace, clock } = session
    const signal = AbortSignal.any([session.signal, closed.signal])
    for (const { name } of isMuted.values())
      tell(`\`${name}\` has \`attach: false\` and is left out; \`devctl logs ${name}\` shows it`)
    const printer = new LogPrinter(io.stdout, {
      colour: wantsColour(io.stdout, io.env),
      timestamps: options.timestamps,
      signal,
      closed: reason => closed.abort(reason),
    })
    const whose = environment ? `${environment.name} in ${namespace}` : namespace
    const troubled = new Set<string>()
    const { MOST_OPEN, showLogs } = await import('../operations/objects/logs/logs.ts')
    try {
      await showLogs(
        {
          cluster,
          namespace,
          environment: environment?.name,
          range: { tail: options.tail, since: options.since || undefined },
          follow: options.follow,
          isWanted: matches,
        },
        {
          clock,
          signal,
          print(source, line) {
            troubled.delete(source.name)
            return printer.print(source, line)
          },
          found: sources => printer.expect(sources),
          async nothing(present) {
            const known = [
              ...new Set([...present.map(({ service }) => service), ...names.map(({ name }) => name)]),
            ].sort()
            if (wanted && !names.some(({ name, label }) => wanted.test(name) || wanted.test(label)) && known.length > 0)
              throw new UserError(`no service of ${whose} matches \`${pattern}\``, {
                hint: didYouMean(pattern!, known) ?? `there are ${known.map(name => `\`${name}\``).join(', ')}`,
              })
            await requireNamespace(session)
            tell(
              `there is no Pod of ${whose}${wanted || unwanted ? ' that matches' : ''} yet${options.follow ? '; waiting for one' : ''}`,
            )
          },
          crowded: once(() =>
            tell(
              `more than ${MOST_OPEN} containers write: the others follow when one of these ends; a pattern makes them fewer`,
            ),
          ),
          ended({ name }, { code, reason }) {
            const why = reason && reason !== 'Error' && reason !== 'Completed' ? ` (${reason})` : ''
            if (code !== 0 || logLevel === 'info' || logLevel === 'debug')
              tell(`${name} ended with exit code ${code}${why}`)
          },
          troubled({ name }, error) {
            if (troubled.has(name)) return
            troubled.add(name)
            tell(`the log of ${name} cannot be read${options.follow ? ' now, trying again' : ''}: ${error.message}`)
          },
          word: ({ name }, text) => tell(`${name}: ${text}`),
        },
      )
      await printer.end()
      return 0
    } catch (error) {
      // Whoever reads our output has enough of it (`| head`). What else can be wrong with it is told where it is written (start.ts).
      if (closed.signal.aborted && !session.signal.aborted) return 0
      if (!session.signal.aborted) await printer.end()
      throw error
    }
  })
}

/** `logs -f compose.yaml` means a file elsewhere in devctl. */
function refuseFile(pattern: string, cwd: string): void {
  if (/\.ya?ml$/.test(pattern) && existsSync(resolve(cwd, pattern)))
    throw new UsageError(`\`${pattern}\` is a file and no service: \`-f\` follows the logs here`, {
      hint: `\`devctl logs --file ${pattern}\` names the file`,
    })
}

/** A service of the files: how they call it, and how the cluster does. */
interface ServiceName {
  readonly name: string
  readonly label: string
  readonly isAttached: boolean
}

async function serviceNames({ project }: KnownEnvironment): Promise<readonly ServiceName[]> {
  if (!project) return []
  const { planNames } = await import('../compiler/plan/names.ts')
  const names = planNames(project, {}, new Reporter())
  return [...project.services.values()].map(({ name, attach }) => ({ name, label: names.of(name), isAttached: attach }))
}

/** Services with `attach: false`, by their labels: a pattern that matches one names it. */
function mutedServices(names: readonly ServiceName[], wanted: RegExp | undefined): ReadonlyMap<string, ServiceName> {
  return new Map(names.filter(({ isAttached }) => !isAttached && !wanted).map(one => [one.label, one]))
}

function once(run: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) run()
    isDone = true
  }
}
