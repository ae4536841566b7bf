import { plural } from '../compiler/diagnostics/render/summary.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { type SessionOptions, withCluster } from './cluster-session.ts'
import type { Context } from './command.ts'
import { compileFiles } from './compile-files.ts'
import { readableDuration } from './duration-option.ts'
import { openProject, targetOf } from './open-project.ts'
import type { LoadingValues } from './project-options.ts'
import { printDiagnostics, printSummary } from './report.ts'

export interface DestroyValues extends LoadingValues, SessionOptions {
  readonly name: string | undefined
  readonly volumes: boolean
  readonly wait: boolean
}

/** Takes an environment out of the cluster again. Without a name it is the one that the files have. */
export async function destroyApplication({ io, logLevel }: Context, options: DestroyValues): Promise<number> {
  const opened = await openProject(io, options)
  const target = targetOf(opened, options)
  return withCluster(io, { ...options, ...target, logLevel }, async ({ cluster, namespace, signal, clock, holder }) => {
    const began = clock.now()
    const environment = await environmentName()
    const { destroyEnvironment } = await import('../environment/destroy.ts')
    let planned: number | undefined
    let deleted = 0
    const result = await destroyEnvironment(
      { cluster, environment, namespace, holder, volumes: options.volumes, wait: options.wait },
      {
        clock,
        signal,
        events: {
          planned(doomed) {
            planned = doomed.length
          },
          deleted: name => {
            deleted++
            if (logLevel !== 'error') io.stderr.write(`deleted ${name}\n`)
          },
          locked: holder => io.stderr.write(`waiting for ${holder}, who works on it or has died\n`),
        },
      },
    ).catch((error: unknown) => {
      if (planned !== undefined && (signal.aborted || deleted > 0))
        io.stderr.write(stoppedText(environment, namespace, deleted, planned))
      throw error
    })
    if (result.kept.length > 0) {
      const hint = options.volumes ? '' : ' (`--volumes` deletes claims)'
      io.stderr.write(`kept ${result.kept.join(', ')}${hint}\n`)
    }
    const took = readableDuration(clock.now() - began)
    printSummary(
      result.wasEmpty
        ? `there is nothing of ${environment} in ${namespace}`
        : `${environment} is destroyed in ${namespace}: ${plural(result.deleted.length, 'object')}${options.wait ? '' : ', not waited for'} (${took})`,
      io,
      logLevel,
    )
    return 0
  })

  async function environmentName(): Promise<string> {
    if (options.name !== undefined) return options.name
    const { plan, project, diagnostics } = await compileFiles(io, [], options, {}, { project: opened })
    const name = plan?.environment.name ?? project?.name
    if (name !== undefined) return name
    printDiagnostics(diagnostics, io, logLevel)
    throw new UserError('the name of the environment cannot be told from the files', { hint: 'give it with `--name`' })
  }
}

/** What state things are in when a destroy is stopped. */
function stoppedText(environment: string, namespace: string, deleted: number, planned: number): string {
  const what =
    deleted < planned
      ? `${deleted} of ${plural(planned, 'object')} deleted`
      : `${plural(planned, 'object')} deleted, but perhaps not gone yet`
  return `${environment} is partly destroyed in ${namespace}: ${what}. Destroy again to go on\n`
}
