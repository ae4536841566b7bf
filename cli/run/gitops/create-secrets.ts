import { plural } from '../../../compiler/diagnostics/render/summary.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { bySecret, createSecrets } from '../../../gitops/secrets/create.ts'
import { type NeededKey, neededKeys } from '../../../gitops/secrets/needed-secrets.ts'
import { findTargetWithHome } from '../../../platform/session/target-with-home.ts'
import type { Target } from '../../../project/contexts/target.ts'
import { openProject, targetOf } from '../../../project/open-project.ts'
import type { Context } from '../../command.ts'
import type { LoadingValues } from '../../options/project.ts'
import { INTERRUPTED } from '../../terminal/exit-status.ts'
import { type Io, isAgreed } from '../../terminal/io.ts'
import { toTerminal } from '../../terminal/operation-events.ts'
import { startProgress } from '../../terminal/progress/progress.ts'
import { withCluster } from '../cluster-session.ts'

export interface CreateSecretsValues extends LoadingValues {
  readonly name: string | undefined
  readonly namespace: string | undefined
  readonly context: string | undefined
  readonly timeout: number | undefined
  readonly create: boolean
}

/**
 * Creates Secrets in the cluster, or adds missing keys to them, if `--create` or the user at the terminal asks for it.
 * Includes only Secrets that the application reads and that are not published. Takes values from the Compose files and
 * their variables, or else from the user. Returns the exit status: 1 while a value is missing, 130 if the user cancels.
 */
export async function createNeeded(context: Context, options: CreateSecretsValues): Promise<number> {
  const { io, logLevel } = context
  // The answers may have changed the project, so open it again.
  const project = await openProject(io, options)
  const wish = targetOf(project, options)
  const needed = await neededKeys(io, options, project)
  if (needed.length === 0) {
    if (options.create) io.stdout.write('no Secret has to be created in the cluster\n')
    return 0
  }
  if (!options.create && !(await isWanted(io, needed, wish))) return 0
  return withCluster(io, { ...wish, timeout: options.timeout, logLevel }, async session => {
    const on = toTerminal(context, await startProgress(io, logLevel, 'text', () => session.clock.now()), 'text')
    const { askHidden } = io
    const valueFor = askHidden && ((key: NeededKey) => askHidden(questionFor(key), session.signal))
    const outcome = await createSecrets({ workspace: io, session, on, ...(valueFor && { valueFor }) }, needed)
    if (outcome.kind === 'cancelled') return INTERRUPTED
    return printLeft(io, outcome.left)
  })
}

const questionFor = ({ secret, key, usedBy }: NeededKey): string =>
  `Value of ${key} in the Secret ${secret}, for ${usedBy.join(', ')}`

/**
 * Asks the user at the terminal whether to create the missing Secrets. Returns false without asking if there is no
 * terminal or no target cluster is configured.
 */
async function isWanted(io: Io, needed: readonly NeededKey[], wish: ReturnType<typeof targetOf>): Promise<boolean> {
  if (!io.choose) return false
  let target: Target
  try {
    target = await findTargetWithHome(io, wish, wish.manifest)
  } catch (error) {
    // Questions about secrets can be answered without a cluster.
    if (error instanceof UserError) return false
    throw error
  }
  const names = [...bySecret(needed).keys()].join(', ')
  const question = `Create what is missing of ${names} in the namespace ${target.namespace} of ${target.context}?`
  return isAgreed(io.choose, question)
}

function printLeft({ stderr }: Io, left: readonly NeededKey[]): number {
  if (left.length === 0) return 0
  const shown = left.map(({ secret, key, usedBy }) => `\`${key}\` of \`${secret}\`, for ${paths(usedBy)}`)
  stderr.write(`error: ${plural(left.length, 'key')} without a value: ${shown.join('; ')}\n`)
  stderr.write(`  = help: ${HINT}\n`)
  return 1
}

const HINT = 'set the variables or files that the Compose files take them from, or type them at a terminal'

const paths = (all: readonly string[]) => all.map(path => `\`${path}\``).join(', ')
