import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { findTargetWithHome } from '../../platform/session/target-with-home.ts'
import { homeVariables } from '../../project/contexts/home.ts'
import { selectInKubeconfig } from '../../project/contexts/kubeconfig-edit.ts'
import { readKubeconfigNames } from '../../project/contexts/kubeconfig-names.ts'
import { kubeconfigName, putInKubeconfig } from '../../project/contexts/kubeconfig-platform.ts'
import { isPlatform } from '../../project/contexts/store.ts'
import { checkNamespace, type Target } from '../../project/contexts/target.ts'
import type { Context } from '../command.ts'
import type { KubeconfigValues } from '../commands/kubeconfig.ts'
import type { Io } from '../terminal/io.ts'
import { type OwnCommand, ownCommand } from '../terminal/own-command.ts'
import { withDeadline } from './deadline.ts'

/** Maximum time that kubectl waits for its token, in milliseconds. */
const PLUGIN = 30_000

/**
 * Makes kubectl and similar programs use the current context and its namespace. Adds credentials only for a platform,
 * because a plain cluster already has credentials in the kubeconfig.
 */
export async function updateKubeconfig(
  { io }: Context,
  { execCredential, ...options }: KubeconfigValues,
): Promise<number> {
  const target = await findTargetWithHome(io, options)
  if (execCredential) return printCredential(io, target)
  checkNamespace(target)
  const { context, namespace } = target
  if (isPlatform(context)) return writePlatform(io, target)
  const paths = await selectInKubeconfig(await readKubeconfigNames(io), context, namespace)
  printUpdated(io, context, namespace, paths)
  return 0
}

function printUpdated({ stdout }: Io, context: string, namespace: string, paths: readonly string[]): void {
  stdout.write(`Updated Kubernetes context '${context}', namespace '${namespace}', in '${paths.join("', '")}'\n`)
}

/** Adds a platform to the kubeconfig. Requests a token first, so that a context that does not work is never written. */
function writePlatform(io: Io, target: Target): Promise<number> {
  const { context, namespace, stored } = target
  const hint = 'is the platform running?'
  return withDeadline(io, { timeout: undefined, hint }, async signal => {
    const { platformCredential } = await import('../../platform/session/access.ts')
    const { server, ca } = await platformCredential(io, target, signal)
    const paths = await putInKubeconfig(await readKubeconfigNames(io), {
      platform: context,
      namespace,
      kubernetes: { server, ...(ca !== undefined && { ca }) },
      program: await thisProgram(io),
      env: homeVariables(io),
    })
    printUpdated(io, kubeconfigName(context), namespace, paths)
    if (stored.kubernetes === undefined)
      io.stderr.write('note: kubectl needs `DEVCTL_URL` and `DEVCTL_TOKEN`, too: the token is not stored\n')
    return 0
  })
}

/**
 * Returns the command that runs devctl: its name if it is on the PATH, because the name stays valid after an upgrade;
 * otherwise the command of this process.
 */
async function thisProgram({ env }: Io): Promise<OwnCommand> {
  const { findProgram } = await import('../../adapters/process/find-program.ts')
  const name = ['devctl', 'kubectl-devctl'].find(name => findProgram(name, env) !== undefined)
  return (name === undefined && ownCommand()) || { command: name ?? 'devctl', args: [] }
}

/**
 * Prints the credential that kubectl reads: https://kubernetes.io/docs/reference/config-api/client-authentication.v1/
 */
function printCredential(io: Io, target: Target): Promise<number> {
  if (!isPlatform(target.context))
    throw new UserError(`\`${target.context}\` is not a platform`, {
      hint: 'kubectl already has the credentials of contexts in the kubeconfig',
    })
  if (io.stdout.isTTY)
    throw new UsageError('`--exec-credential` prints a token, and is for kubectl', {
      hint: '`devctl kubeconfig` makes kubectl use it',
    })
  return withDeadline(io, { timeout: undefined, fallback: PLUGIN, hint: 'is the platform running?' }, async signal => {
    const { platformCredential } = await import('../../platform/session/access.ts')
    const { token, expires } = await platformCredential(io, target, signal)
    const status = { token: token.reveal(), expirationTimestamp: expires }
    const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', spec: {}, status }
    // Bypass the redactor: it could mask part of the token.
    const { stdout } = io
    const write = stdout.writeAsIs ?? stdout.write
    write.call(stdout, `${JSON.stringify(credential)}\n`)
    return 0
  })
}
