import { type Cluster, ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import { UsageError, UserError } from '../../../compiler/diagnostics/user-error.ts'
import { dnsLabel } from '../../../project/checks.ts'
import { configHome } from '../../../project/contexts/home.ts'
import { isPlatform, readContexts, saveContext } from '../../../project/contexts/store.ts'
import { findTarget } from '../../../project/contexts/target.ts'
import type { Context } from '../../command.ts'
import { INTERRUPTED } from '../../terminal/exit-status.ts'
import type { PromptAnswer } from '../../terminal/io.ts'
import { listText } from '../../terminal/print-list.ts'
import { toTable } from '../../terminal/table.ts'
import { withCluster } from '../cluster-session.ts'
import { hasTokenOfEnvironment, warnOfToken } from '../environment-token.ts'
import { usingContext, warnOfVariables } from '../using-context.ts'
import { isEndOfRun } from './end-of-run.ts'
import { type OnPlatform, onPlatform } from './on-platform.ts'

/**
 * Sets the namespace of the current context, whichever setting selects that context. With a token from the environment
 * variables, stores nothing, and prints the variable to set instead.
 */
async function useNamespace({ io, logLevel }: Context, namespace: string): Promise<number> {
  dnsLabel(namespace, 'name')
  const { context } = await findTarget(io, {})
  const home = configHome(io)
  const isRemembered = !hasTokenOfEnvironment(io.env, context)
  if (isRemembered || readContexts(home).contexts.get(context)?.token)
    await saveContext(home, { name: context, namespace }, false)
  if (isRemembered || io.env.DEVCTL_NAMESPACE === namespace) {
    io.stdout.write(`${usingContext(namespace, context)}\n`)
    if (logLevel !== 'error' && isRemembered) warnOfVariables(io, ['DEVCTL_NAMESPACE'])
  } else if (logLevel !== 'error') warnOfToken(io, namespace)
  return 0
}

/**
 * Sets the namespace of the current context. On a platform, accepts only a namespace that the user is allowed to see.
 */
export async function switchNamespace(context: Context, name: string): Promise<number> {
  dnsLabel(name, 'name')
  if (!isPlatform((await findTarget(context.io, {})).context)) return useNamespace(context, name)
  return withPlatform(context, 'list', undefined, async ({ platform, signal }) => {
    await platform.call('GET /namespaces/:ns', { params: { ns: name } }, signal)
    return useNamespace(context, name)
  })
}

/** Value of the answer "another namespace"; no namespace has this name. */
const NEW = ''

/**
 * Asks the user at the terminal to choose one of the cluster's namespaces. On a platform, the user can also create a
 * namespace.
 */
export async function chooseNamespace(context: Context): Promise<number> {
  const { io } = context
  const { choose } = io
  if (choose === undefined)
    throw new UsageError('which namespace?', { hint: 'set it with `devctl namespace use NAME`' })
  const ask = (names: readonly string[], current: string, more: readonly PromptAnswer[] = []) => {
    const answers = names.map(name => ({
      value: name,
      label: name === current ? `${name} *` : name,
      isPreset: name === current,
    }))
    return choose('Which namespace?', [...answers, ...more])
  }
  const use = (chosen: string | undefined) => (chosen === undefined ? INTERRUPTED : useNamespace(context, chosen))
  // Members may not list the namespaces of the cluster, but the platform knows which are theirs.
  if (isPlatform((await findTarget(io, {})).context))
    return withPlatform(context, 'list', undefined, async on => {
      const { items } = await on.platform.call('GET /namespaces', {}, on.signal)
      const names = items.map(({ name }) => name)
      const chosen = await ask(names, on.target.namespace, io.ask && [{ value: NEW, label: 'a new namespace' }])
      if (chosen !== NEW) return use(chosen)
      const name = (await io.ask?.('Name of the new namespace', on.signal))?.trim()
      return name === undefined ? INTERRUPTED : create(context, on, name)
    })
  const options = { context: undefined, namespace: undefined, timeout: 10_000 }
  return withCluster(io, options, async ({ cluster, namespace: current, signal }) => {
    return use(await ask(await namespacesOf(cluster, signal), current))
  })
}

async function namespacesOf(cluster: Cluster, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const found = await cluster.list({ apiVersion: 'v1', kind: 'Namespace' }, { signal })
    return found.map(({ metadata }) => metadata.name).sort()
  } catch (error) {
    if (!(error instanceof ClusterError) || error.failure !== 'forbidden') throw error
    throw new UserError(error.message, {
      hint: 'set it with `devctl namespace use NAME`, which does not list namespaces',
      cause: error,
    })
  }
}

const INSTEAD = {
  share: (context: string, name: string) =>
    `\`kubectl --context ${context} --namespace ${name} create rolebinding\` gives someone rights in it`,
  unshare: (context: string, name: string) =>
    `\`kubectl --context ${context} --namespace ${name} delete rolebinding\` removes someone's rights in it`,
  sleep: (context: string, name: string) =>
    `\`kubectl --context ${context} --namespace ${name} scale deployment --all --replicas 0\` stops what runs in it`,
  wake: (context: string, name: string) =>
    `\`kubectl --context ${context} --namespace ${name} scale deployment --all --replicas 1\` starts it`,
  create: (context: string, name: string) =>
    `\`kubectl --context ${context} create namespace ${name}\` creates it, and \`devctl namespace use ${name}\` switches to it`,
  delete: (context: string, name: string) =>
    `\`devctl destroy --namespace ${name}\` deletes an environment; \`kubectl --context ${context} delete namespace ${name}\` deletes the whole namespace`,
  list: (context: string) =>
    `\`kubectl --context ${context} get namespaces\` lists them, and \`devctl namespace use NAME\` chooses one`,
}

/** Creates a namespace and switches to it. */
export function createNamespace(context: Context, name: string): Promise<number> {
  dnsLabel(name, 'name')
  return withPlatform(context, 'create', name, on => create(context, on, name))
}

async function create(context: Context, { platform, signal }: OnPlatform, name: string): Promise<number> {
  dnsLabel(name, 'name')
  const made = await platform.call('POST /namespaces', { body: { name } }, signal)
  const { io } = context
  // The message of `useNamespace` implies it in all other cases.
  if (hasTokenOfEnvironment(io.env, platform.url)) io.stdout.write(`Created namespace ${made.name}\n`)
  return useNamespace(context, made.name)
}

/** Deletes a namespace. If it was the current one, the context switches to the user's own namespace. */
export function deleteNamespace(
  context: Context,
  name: string,
  { force, timeout }: { readonly force: boolean; readonly timeout: number | undefined },
): Promise<number> {
  const { io } = context
  const work = async ({ platform, target, signal }: OnPlatform) => {
    const { unlessNotThere } = await import('../../../platform/session/connect-platform.ts')
    const { followDeletion } = await import('./follow-deletion.ts')
    const query = force ? { force: 'true' as const } : {}
    await platform.call('DELETE /namespaces/:ns', { params: { ns: name }, query }, signal)
    io.stdout.write(`Deleting namespace ${name}\n`)
    await followDeletion(context, {
      what: `namespace \`${name}\``,
      again: `devctl namespace delete ${name}`,
      async look() {
        const found = await unlessNotThere(platform.call('GET /namespaces/:ns', { params: { ns: name } }, signal))
        const runs = await unlessNotThere(platform.call('GET /runs', { query: { namespace: name } }, signal))
        return found && { ...found, runs: runs?.items ?? [] }
      },
      log: ({ id }) => platform.follow('GET /runs/:id/log', { params: { id } }, signal, isEndOfRun),
      signal,
    })
    if (target.namespace !== name) return 0
    const { home } = await platform.call('GET /me', {}, signal)
    return home === undefined || home === name ? 0 : useNamespace(context, home)
  }
  return withPlatform(context, 'delete', name, work, { timeout, goesOn: `the deletion of ${name} continues` })
}

/**
 * Prints the namespaces that the user is allowed to see, as a table with their status, or as JSON with all fields of
 * the platform's response.
 */
export function listNamespaces(context: Context, output: 'text' | 'json' | 'name'): Promise<number> {
  return withPlatform(context, 'list', undefined, async ({ platform, target, signal }) => {
    const { items } = await platform.call('GET /namespaces', {}, signal)
    const { stdout } = context.io
    const isCurrent = (name: string) => name === target.namespace
    const { standingOf } = await import('../../../platform/rules/runs/running.ts')
    const rows = items.map(({ name, status }) => [
      isCurrent(name) ? `${name} *` : name,
      standingOf(status, undefined).word,
    ])
    const records = items.map(one => ({ ...one, current: isCurrent(one.name) }))
    const text = () => toTable([['Namespace', 'Status'], ...rows])
    stdout.write(await listText(output, { records, names: items.map(({ name }) => name), text }))
    return 0
  })
}

/** Suspends a namespace, by default the current one, and reports the workloads that stay awake. */
export function sleepNamespace(context: Context, name: string | undefined): Promise<number> {
  return withPlatform(context, 'sleep', name, async ({ platform, target, signal }) => {
    const ns = name ?? target.namespace
    const { kept } = await platform.call('POST /namespaces/:ns/sleep', { params: { ns } }, signal)
    for (const one of kept) context.io.stderr.write(`${one}\n`)
    context.io.stdout.write(`Namespace ${ns} is asleep\n`)
    return 0
  })
}

/** Resumes a namespace, by default the current one. Its workloads may take a while to become ready. */
export function wakeNamespace(context: Context, name: string | undefined): Promise<number> {
  return withPlatform(context, 'wake', name, async ({ platform, target, signal }) => {
    const ns = name ?? target.namespace
    const { status } = await platform.call('POST /namespaces/:ns/wake', { params: { ns } }, signal)
    context.io.stdout.write(status === 'Active' ? `Namespace ${ns} is awake\n` : `Waking namespace ${ns}\n`)
    return 0
  })
}

/**
 * Runs the work on the platform of the current context. If the context is not a platform, throws a UserError that names
 * an alternative.
 */
export function withPlatform(
  { io }: Context,
  verb: keyof typeof INSTEAD,
  name: string | undefined,
  work: (on: OnPlatform) => Promise<number>,
  { timeout, goesOn }: { readonly timeout?: number | undefined; readonly goesOn?: string } = {},
): Promise<number> {
  const again = '`devctl namespace list` shows what was done'
  return onPlatform(io, {
    command: `namespace ${verb}`,
    instead: context => INSTEAD[verb](context, name ?? 'NAME'),
    timeout,
    hint: goesOn === undefined ? `is the platform running? ${again}` : `${goesOn}; ${again}`,
    ...(goesOn !== undefined && { onInterrupt: () => io.stderr.write(`interrupted\n${goesOn}; ${again}\n`) }),
    work,
  })
}
