import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import { UsageError, UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { InstallContext } from '../../../platform/install/install-context.ts'
import { findPlatform } from '../../../platform/install/installed.ts'
import { addAdmin, invite } from '../../../platform/install/people.ts'
import { managedNamespaces, uninstallPlatform } from '../../../platform/install/uninstall.ts'
import { configHome } from '../../../project/contexts/home.ts'
import { readKubeconfigNames } from '../../../project/contexts/kubeconfig-names.ts'
import { isPlatform, readContexts } from '../../../project/contexts/store.ts'
import { chooseContext } from '../../../project/contexts/target.ts'
import type { Session } from '../../../project/session.ts'
import type { Context } from '../../command.ts'
import { type Io, isAgreed } from '../../terminal/io.ts'
import { withCluster } from '../cluster-session.ts'
import { fingerprintOption } from './fingerprint-option.ts'

/** Makes a user an administrator. */
export function runAdminAdd(
  context: Context,
  who: string,
  values: { readonly context: string | undefined },
): Promise<number> {
  return onCluster(context, values, async (_session, world) => {
    context.io.stdout.write(`${await addAdmin(world, who)} is now an administrator of the platform\n`)
    return 0
  })
}

/** Invites a user, and prints the command with which the user logs in. */
export function runInvite(
  context: Context,
  name: string,
  values: { readonly context: string | undefined },
): Promise<number> {
  const { io } = context
  return onCluster(context, values, async (_session, world) => {
    const { url, token, fingerprint: own, authorities } = await invite(world, name)
    const by = await fingerprintOption({ url, own, authorities }, io.env, world.signal)
    io.stdout.write(
      `${name} logs in with this command, which works once, within an hour:\n  devctl context use ${url} --token ${token}${by}\n`,
    )
    return 0
  })
}

/**
 * Deletes the platform. Asks before on a terminal. If people have namespaces there, which are deleted, too, `--yes` is
 * always needed.
 */
export function runUninstall(
  context: Context,
  values: {
    readonly context: string | undefined
    readonly timeout: number | undefined
    readonly keepData: boolean
    readonly yes: boolean
  },
): Promise<number> {
  const { io } = context
  const { keepData, yes } = values
  return onCluster(context, values, async ({ cluster, signal, target }, world) => {
    const namespaces = keepData ? [] : await managedNamespaces(cluster, signal)
    if (namespaces.length > 0 && !yes)
      throw new UserError(`this would delete ${namespaces.length} namespaces of people, with everything in them`, {
        notes: [namespaces.map(name => `\`${name}\``).join(', ')],
        hint: 'add `--yes` to delete them, or `--keep-data` to keep them',
      })
    const what = keepData ? 'the server of the platform' : 'the platform, with its users, keys and registry,'
    if (!yes && io.choose && !(await isAgreed(io.choose, `Delete ${what} with the context ${target.context}?`))) {
      io.stderr.write('nothing was deleted\n')
      return 1
    }
    const gone = await uninstallPlatform(world, keepData)
    if (gone.length === 0) io.stdout.write('The cluster has no platform; nothing was deleted\n')
    else
      io.stdout.write(keepData ? 'The platform is removed; users and namespaces stay\n' : 'The platform is removed\n')
    return 0
  })
}

/** Runs the work with cluster administrator rights, on the cluster that a context of the kubeconfig names. */
export async function onCluster(
  { io, logLevel }: Context,
  { context, timeout }: { readonly context: string | undefined; readonly timeout?: number | undefined },
  work: (session: Session, world: InstallContext) => Promise<number>,
): Promise<number> {
  if (context !== undefined && isPlatform(context))
    throw new UsageError('`--context` is a platform', { hint: 'name a context of the kubeconfig' })
  const chosen = context === undefined ? await administered(io) : { context }
  const setBy = chosen.platform === undefined ? {} : { context: 'the kubeconfig' }
  const wish = { context: chosen.context, namespace: 'default', setBy }
  return withCluster(io, { ...wish, timeout, logLevel }, async session => {
    const { cluster, signal, clock, target } = session
    const on = (text: string) => {
      if (logLevel !== 'error') io.stderr.write(`${text}\n`)
    }
    const world = { cluster, signal, now: () => clock.now(), on }
    try {
      if (chosen.platform !== undefined) await requireSame(world, chosen.context, chosen.platform)
      return await work(session, world)
    } catch (error) {
      if (!(error instanceof ClusterError) || error.failure !== 'forbidden') throw error
      throw new UserError(error.message, {
        notes: [`context \`${target.context}\`, chosen by ${target.from.context}`],
        hint: 'this needs the rights of a cluster administrator: name a context that has them with `--context`',
        cause: error,
      })
    }
  })
}

/**
 * Returns the context to administer the cluster with. If the chosen context is a platform, `platform` is its address,
 * and `context` is the current context of the kubeconfig, which is used in its place. Otherwise, returns an empty
 * object. Throws a UsageError if the kubeconfig has no current context, or if that context belongs to a platform, too.
 */
async function administered(
  io: Io,
): Promise<{ readonly context?: string; readonly platform?: undefined } | { context: string; platform: string }> {
  const stored = readContexts(configHome(io))
  const kubeconfig = await readKubeconfigNames(io)
  const [platform] = chooseContext({ options: {}, env: io.env, manifest: {}, stored, kubeconfig }) ?? []
  if (platform === undefined || !isPlatform(platform)) return {}
  const context = kubeconfig.current
  // `devctl kubeconfig` also writes contexts of platforms to the kubeconfig.
  if (context !== undefined && kubeconfig.contexts.get(context)?.platform === undefined) return { context, platform }
  throw new UsageError(`the current context is the platform \`${platform}\``, {
    hint: 'this needs the rights of a cluster administrator: name a context of the kubeconfig with `--context`',
  })
}

/** Throws a UserError if the cluster of `context` does not run the platform that the user is logged in to. */
async function requireSame(world: InstallContext, context: string, platform: string): Promise<void> {
  const found = await findPlatform(world)
  if (found?.url === platform) return
  throw new UserError(
    `the current context is the platform \`${platform}\`, but the cluster of \`${context}\` has ${found ? `the platform \`${found.url}\`` : 'no platform'}`,
    { hint: `add \`--context ${context}\` if you mean this cluster` },
  )
}
