import { openSession } from '../../../api/open-session.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { DoctorPart } from '../../../develop/doctor/doctor.ts'
import { openProject, targetOf } from '../../../project/open-project.ts'
import type { OpenProject } from '../../../project/opened-project.ts'
import type { Session } from '../../../project/session.ts'
import type { Context } from '../../command.ts'
import type { DoctorValues } from '../../commands/doctor.ts'
import type { Io } from '../../terminal/io.ts'
import { withDeadline } from '../deadline.ts'

/**
 * Collects data about a problem with a development container in a zip file. Prints a progress line for each part, and
 * then the path of the zip file. Returns the exit status.
 */
export async function runDoctor({ io }: Context, dev: string | undefined, options: DoctorValues): Promise<number> {
  return withDeadline(io, { timeout: options.timeout, hint: 'wait longer with `--timeout`' }, async signal => {
    const { doctor } = await import('../../../develop/doctor/doctor.ts')
    const { choose } = io
    const project = await orError(openProject(io, options))
    const world = {
      workspace: io,
      project,
      session: await sessionFor(io, project, options, signal),
      signal,
      now: () => new Date(),
      on: (part: DoctorPart) => io.stderr.write(`${partText(part)}\n`),
    }
    const { path } = await doctor(world, {
      dev,
      loading: options,
      choose:
        choose &&
        (names =>
          choose(
            'Which development container?',
            names.map(value => ({ value })),
          )),
    })
    io.stdout.write(`${path}\n`)
    return 0
  })
}

/**
 * Opens a session on the target cluster of the project, or returns the UserError. If the project could not be opened,
 * only the options and the kubeconfig select the cluster.
 */
const sessionFor = (
  io: Io,
  project: OpenProject | Error,
  options: DoctorValues,
  signal: AbortSignal,
): Promise<Session | Error> =>
  orError(
    openSession(io, project instanceof Error ? options : { ...options, ...targetOf(project, options) }, { signal }),
  )

/**
 * Returns the value of a promise, or the UserError that it rejects with, so that one failed part does not stop the
 * collection of the others.
 */
async function orError<Value>(value: Promise<Value>): Promise<Value | Error> {
  try {
    return await value
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
}

const partText = ({ name, files, missing }: DoctorPart): string =>
  missing === undefined ? `${name}: ${files === 1 ? '1 file' : `${files} files`}` : `${name}: left out, ${missing}`
