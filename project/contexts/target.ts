import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { dnsLabel } from '../checks.ts'
import { configHome, type Surroundings } from './home.ts'
import { type KubeconfigNames, readKubeconfigNames, stoodFor } from './kubeconfig-names.ts'
import { platformNamedBy, platformOf, tokenOf } from './platform-of-environment.ts'
import { contextName, platformUrl } from './platform-url.ts'
import { isPlatform, readContexts, type StoredContext, type StoredContexts } from './store.ts'

/** Cluster and namespace selected by a command line or a manifest. */
export interface TargetOptions {
  readonly context?: string | undefined
  readonly namespace?: string | undefined
  /** Sources of the values, as in `Target.from`, if they are not the options `--context` and `--namespace`. */
  readonly setBy?: { readonly context?: string; readonly namespace?: string }
}

/** Source of the namespace if no setting names one. */
export const NO_NAMESPACE = 'the Kubernetes default'

/** All sources from which the cluster and the namespace are chosen, in order of precedence. */
export interface TargetSources {
  readonly options: TargetOptions
  readonly env: Readonly<Record<string, string | undefined>>
  readonly manifest: TargetOptions
  readonly stored: StoredContexts
  readonly kubeconfig: KubeconfigNames
}

/** Cluster and namespace that a command works on. */
export interface Target {
  /** Context of the kubeconfig, or URL of a platform. */
  readonly context: string
  readonly namespace: string
  /** Source of each value as text, such as `` `--context` ``, `` `DEVCTL_NAMESPACE` `` or `the manifest`. */
  readonly from: { readonly context: string; readonly namespace: string }
  /** Stored settings of the context. */
  readonly stored: StoredContext
}

/**
 * Returns the target of a command from the stored contexts and the kubeconfig. Throws a UserError like `chooseTarget`,
 * or for damaged files.
 */
export async function findTarget(
  around: Surroundings,
  options: TargetOptions,
  manifest: TargetOptions = {},
): Promise<Target> {
  const stored = readContexts(configHome(around))
  return chooseTarget({ options, env: around.env, manifest, stored, kubeconfig: await readKubeconfigNames(around) })
}

/**
 * Returns the target. The first of these settings that names a context decides: option, environment variable, manifest,
 * current context of devctl, current context of the kubeconfig. The same order applies to the namespace. Throws a
 * UserError if no setting names a context, for a platform without a login, for a `DEVCTL_URL` that is not a platform
 * URL, and for a context that the kubeconfig does not have.
 */
export function chooseTarget(choices: TargetSources): Target {
  const { options, env, manifest, stored, kubeconfig } = choices
  const [context, contextFrom, named] = chooseContext(choices) ?? refuseNone(kubeconfig)
  // Validates the URL before the token of the environment is sent to it.
  if (contextFrom === BY_URL) platformOf(env)
  const record = withToken(stored.contexts.get(context) ?? { name: context }, context, env)
  if (isPlatform(context)) requireLogin(record, contextFrom)
  else requireCluster(context, kubeconfig, contextFrom, stored.current)
  const [namespace, namespaceFrom] = first([
    [options.namespace, options.setBy?.namespace ?? '`--namespace`'],
    [env.DEVCTL_NAMESPACE, '`DEVCTL_NAMESPACE`'],
    [manifest.namespace, 'the manifest'],
    [record.namespace, '`devctl namespace use`'],
    [kubeconfig.contexts.get(named)?.namespace, 'the kubeconfig'],
  ]) ?? ['default', NO_NAMESPACE]
  return { context, namespace, from: { context: contextFrom, namespace: namespaceFrom }, stored: record }
}

/** Throws a UsageError, with the source of the value, if the namespace of a target is not a valid DNS label. */
export const checkNamespace = ({ namespace, from }: Pick<Target, 'namespace' | 'from'>): void =>
  dnsLabel(namespace, from.namespace.replaceAll('`', ''))

/**
 * Returns the name of the context that would be used, its source, and the name as written, without checking that the
 * context exists. A context that `devctl kubeconfig` has written for a platform stands for the platform.
 */
export function chooseContext({
  options,
  env,
  manifest,
  stored,
  kubeconfig,
}: TargetSources): readonly [context: string, from: string, named: string] | undefined {
  const chosen = first([
    [options.context, options.setBy?.context ?? '`--context`'],
    [platformNamedBy(env), BY_URL],
    [env.DEVCTL_CONTEXT, '`DEVCTL_CONTEXT`'],
    [manifest.context, 'the manifest'],
    [stored.current, '`devctl context use`'],
    [kubeconfig.current, 'the current context of the kubeconfig'],
  ])
  if (!chosen) return undefined
  const [named, from] = chosen
  return [contextName(stoodFor(kubeconfig, named)), from, named]
}

const BY_URL = '`DEVCTL_URL`'

type Chosen = readonly [value: string, from: string]

/** Returns the first value that is set, with its source. An empty variable counts as not set. */
function first(candidates: readonly (readonly [value: string | undefined, from: string])[]): Chosen | undefined {
  for (const [value, from] of candidates) if (value) return [value, from]
  return undefined
}

/** Applies `DEVCTL_TOKEN`, but only to the platform of `DEVCTL_URL`, so that no other platform receives it. */
function withToken(record: StoredContext, context: string, env: TargetSources['env']): StoredContext {
  const token = platformNamedBy(env) === context ? tokenOf(env) : undefined
  return token ? { name: context, token } : record
}

function requireLogin({ name, token }: StoredContext, from: string): void {
  if (token) return
  requireAddress(name, from)
  throw new UserError(`you are not logged in to \`${name}\``, {
    hint: `\`devctl context use ${name}\` logs in; programs set \`DEVCTL_URL\` and \`DEVCTL_TOKEN\``,
    notes: from === '`--context`' ? [] : [`it was chosen by ${from}`],
  })
}

/** Throws a UserError for a name that is not a platform URL, because the user cannot log in to it. */
function requireAddress(name: string, from: string): void {
  try {
    platformUrl(name)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UserError(error.message, {
      ...(error.hint !== undefined && { hint: error.hint }),
      notes: [`it was chosen by ${from}`],
      cause: error,
    })
  }
}

/**
 * Throws a UserError unless `name` is a context of the kubeconfig. `from` is the setting that named the context;
 * undefined for the command line. `current` is the current context.
 */
export function requireCluster(name: string, kubeconfig: KubeconfigNames, from?: string, current?: string): void {
  if (kubeconfig.contexts.has(name)) return
  const namespaces = current !== undefined && isPlatform(current) ? ofPlatform(current, name) : undefined
  const notes = from === undefined || from === '`--context`' ? [] : [`it was chosen by ${from}`]
  throw new UserError(`context \`${name}\` does not exist in the kubeconfig (${paths(kubeconfig)})`, {
    hint: didYouMean(name, kubeconfig.contexts.keys()) ?? asPlatform(name) ?? namespaces ?? listed(kubeconfig),
    notes,
  })
}

const ofPlatform = (platform: string, name: string): string =>
  `the current context is \`${platform}\`; \`devctl namespace use ${name}\` selects one of its namespaces`

/** Returns a hint for the host of a platform without a scheme, or with a misspelled one; undefined for other names. */
function asPlatform(name: string): string | undefined {
  const [, address] = /^(?:[a-z]+:\/\/)?([a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d{1,5})?)\/?$/i.exec(name) ?? []
  return address && `the context of a platform is its address: \`https://${address}\``
}

function refuseNone(kubeconfig: KubeconfigNames): never {
  throw new UserError('no context is selected', {
    hint:
      kubeconfig.contexts.size > 0
        ? `\`devctl context use NAME\` chooses one; ${listed(kubeconfig)}`
        : listed(kubeconfig),
  })
}

const MANY = 10

/** Lists the contexts of the kubeconfig for a hint. */
function listed(kubeconfig: KubeconfigNames): string {
  const names = [...kubeconfig.contexts.keys()].sort()
  if (names.length === 0) {
    const what = `the kubeconfig (${paths(kubeconfig)}) ${kubeconfig.isMissing ? 'does not exist' : 'has no contexts'}`
    return `${what}; name another file in \`KUBECONFIG\`, or log in to a platform: \`devctl context use https://…\``
  }
  const shown = names.slice(0, MANY).map(name => `\`${name}\``)
  return `it has ${shown.join(', ')}${names.length > MANY ? ` and ${names.length - MANY} more` : ''}`
}

const paths = ({ paths }: KubeconfigNames) => paths.map(path => `\`${path}\``).join(', ')
