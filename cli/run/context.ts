import { parseBuilderAddress } from '../../adapters/buildkit/address.ts'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { jsonText } from '../../compiler/values/printable.ts'
import { configHome } from '../../project/contexts/home.ts'
import { currentContext, type KnownContext, knownContexts } from '../../project/contexts/known-contexts.ts'
import { readKubeconfigNames, stoodFor } from '../../project/contexts/kubeconfig-names.ts'
import { platformOf } from '../../project/contexts/platform-of-environment.ts'
import { contextName, platformUrl } from '../../project/contexts/platform-url.ts'
import { PLACEHOLDER } from '../../project/contexts/secret.ts'
import { deleteContext, isPlatform, readContexts, saveContext } from '../../project/contexts/store.ts'
import { requireCluster } from '../../project/contexts/target.ts'
import type { Context } from '../command.ts'
import { INTERRUPTED } from '../terminal/exit-status.ts'
import type { Io } from '../terminal/io.ts'
import { listText } from '../terminal/print-list.ts'
import { toTable } from '../terminal/table.ts'
import { warnOfMissingNamespace } from './missing-namespace.ts'
import { givenToken } from './secret-input.ts'
import { fieldsOf, type UseValues, usingContext, warnOfVariables } from './using-context.ts'

/**
 * Makes a context the current one, and stores the settings from the options with it. Without a name, asks the user at
 * the terminal.
 */
export async function useContext(context: Context, word: string | undefined, values: UseValues) {
  const { io, logLevel } = context
  if (values.builder !== undefined) checkBuilder(values.builder)
  const { token, tokenFile, domain, registry } = values
  const given = token !== undefined ? '--token' : tokenFile === undefined ? undefined : '--token-file'
  const named = word ?? (given === undefined ? undefined : platformOf(io.env)) ?? (await askForContext(io))
  if (named === undefined) return INTERRUPTED
  const kubeconfig = isPlatform(named) ? undefined : await readKubeconfigNames(io)
  const name = kubeconfig ? stoodFor(kubeconfig, named) : named
  if (!kubeconfig || isPlatform(name)) {
    const { usePlatform } = await import('./platform/platform-login.ts')
    return usePlatform(context, name, { ...values, token: await givenToken(io, values) })
  }
  requireCluster(name, kubeconfig, undefined, readContexts(configHome(io)).current)
  if (given !== undefined)
    throw new UsageError(`\`${given}\` is for platforms`, {
      hint: `leave it out: \`${name}\` is a context of the kubeconfig, which has its credentials`,
    })
  await saveContext(configHome(io), { name, ...fieldsOf(values) }, true)
  const saved = (await knownContexts(io)).find(one => one.name === name)
  io.stdout.write(`${usingContext(saved?.ownNamespace ?? 'default', name)}\n`)
  const set = [...(domain ? ['DEVCTL_DOMAIN'] : []), ...(registry ? ['DEVCTL_REGISTRY'] : [])]
  if (logLevel !== 'error') warnOfVariables(io, ['DEVCTL_URL', 'DEVCTL_CONTEXT', 'DEVCTL_NAMESPACE', ...set])
  if (logLevel !== 'error' && values.namespace) await warnOfMissingNamespace(io, name, values.namespace)
  return 0
}

/**
 * Throws a UsageError unless a value is `docker`, `-` or an address that `BUILDKIT_HOST` accepts. Also rejects a single
 * word, which is more likely a misspelled `docker` than a host.
 */
function checkBuilder(value: string): void {
  if (['docker', '-'].includes(value) || (!/^[\w-]+$/.test(value) && isAddress(value))) return
  throw new UsageError(`\`--builder\` is \`${value}\``, {
    hint: 'write `tcp://HOST:PORT`, `tls://HOST:PORT`, `https://HOST`, `unix:///PATH` or `docker`; `-` removes the setting',
  })
}

function isAddress(text: string): boolean {
  try {
    parseBuilderAddress(text)
    return true
  } catch (error) {
    if (error instanceof UserError) return false
    throw error
  }
}

async function askForContext(io: Io): Promise<string | undefined> {
  const known = (await knownContexts(io)).filter(({ isGone }) => !isGone)
  if (io.choose === undefined) {
    const names = known.map(({ name }) => `\`${name}\``).join(', ')
    throw new UsageError('which context?', {
      hint: known.length === 0 ? NO_CONTEXTS : `\`devctl context use NAME\`, with one of ${names}`,
    })
  }
  const chosen = await io.choose('Which context?', [
    ...known.map(({ name, namespace, isCurrent }) => ({
      value: name,
      label: `${name} (${namespace})${isCurrent ? ' *' : ''}`,
      isPreset: isCurrent,
    })),
    ...(known.length === 0 ? [{ value: 'none', label: 'a context of the kubeconfig', disabled: 'it has none' }] : []),
    { value: NEW, label: 'a platform, by its address' },
  ])
  return chosen === NEW ? askForPlatform(io) : chosen
}

/** Value of the answer "log in to a platform"; no context has this name. */
const NEW = ''

/** Asks for the address of a platform, which may be typed without `https://`. Returns undefined if the user cancels. */
async function askForPlatform({ ask }: Io): Promise<string | undefined> {
  const typed = (await ask?.('Address of the platform, such as https://platform.example.com'))?.trim()
  if (typed === undefined) return undefined
  return platformUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`)
}

const NO_CONTEXTS =
  'the kubeconfig has no contexts: create `~/.kube/config` with the tool of your cluster, or set `KUBECONFIG`; `devctl context use https://…` logs in to a platform'

/**
 * Prints the current context. JSON and YAML contain the fields of devctl's specification; `name` prints only the name.
 */
export async function showContext({ io }: Context, output: 'json' | 'yaml' | 'name'): Promise<number> {
  const { name, hasToken, namespace, builder, registry, domain, isPlatform } = await currentContext(io)
  const token = hasToken ? PLACEHOLDER : '-'
  const record = { name, token, namespace, builder, registry, domain, isPlatform }
  if (output === 'name') io.stdout.write(`${name}\n`)
  else if (output === 'json') io.stdout.write(`${jsonText(record, 2)}\n`)
  else {
    const { printYaml } = await import('../../constructs/yaml.ts')
    io.stdout.write(printYaml(record))
  }
  return 0
}

/** Prints all contexts as a table, as JSON, or only the names, one per line. */
export async function listContexts(
  { io, logLevel }: Context,
  output: 'text' | 'wide' | 'json' | 'name',
): Promise<number> {
  const known = await knownContexts(io)
  if (known.length === 0 && (output === 'text' || output === 'wide'))
    throw new UserError('there are no contexts', { hint: NO_CONTEXTS })
  const text = () => tableOf(known, output === 'wide')
  io.stdout.write(await listText(output, { records: known.map(toRecord), names: known.map(({ name }) => name), text }))
  const gone = known.filter(({ isGone }) => isGone)
  if (logLevel !== 'error')
    for (const { name } of gone)
      io.stderr.write(
        `warning: \`${name}\` is not in the kubeconfig any more; \`devctl context delete ${name}\` forgets it\n`,
      )
  return 0
}

function tableOf(known: readonly KnownContext[], isWide: boolean): string {
  const head = ['Name', 'Namespace', 'Builder', 'Registry', ...(isWide ? ['Domain', 'Kind'] : [])]
  const rows = known.map(({ name, namespace, builder, registry, domain, isPlatform, isCurrent, isOfEnvironment }) => [
    `${name}${isCurrent ? ' *' : ''}${isOfEnvironment ? ' (DEVCTL_URL)' : ''}`,
    namespace,
    builder,
    registry,
    ...(isWide ? [domain, isPlatform ? 'platform' : 'kubeconfig'] : []),
  ])
  return toTable([head, ...rows])
}

function toRecord(one: KnownContext): object {
  const { name, namespace, builder, registry, domain, isPlatform, isCurrent, isOfEnvironment } = one
  return {
    name,
    namespace,
    builder,
    registry,
    domain,
    isPlatform,
    current: isCurrent,
    ...(isOfEnvironment && { fromEnvironment: true }),
  }
}

const isInKubeconfig = async (io: Io, name: string): Promise<boolean> =>
  (await readKubeconfigNames(io)).contexts.has(name)

const deletionHint = (name: string): string =>
  `\`kubectl config delete-context ${name}\` deletes it from the kubeconfig`

/**
 * Deletes the data that devctl has stored about a context, and logs out of a platform. Leaves the kubeconfig unchanged.
 */
export async function forgetContext({ io, logLevel }: Context, word: string): Promise<number> {
  const name = contextName(word)
  const home = configHome(io)
  const token = isPlatform(name) ? readContexts(home).contexts.get(name)?.token : undefined
  // Log out before deleting the context, because it may hold the platform's certificate authority.
  const left = token && (await (await import('./platform/platform-logout.ts')).logOut(io, name, token))
  if (await deleteContext(home, name)) {
    io.stdout.write(`Deleted context ${name}\n`)
    if (left !== undefined && logLevel !== 'error') io.stderr.write(left)
    if (logLevel !== 'error' && !isPlatform(name) && (await isInKubeconfig(io, name)))
      io.stderr.write(`note: devctl no longer has settings for it; ${deletionHint(name)}\n`)
    return 0
  }
  if (await isInKubeconfig(io, name))
    throw new UserError(`devctl has no settings for \`${name}\`, which is a context of the kubeconfig`, {
      hint: deletionHint(name),
    })
  const remembered = [...readContexts(home).contexts.keys()]
  throw new UserError(`context \`${name}\` does not exist`, {
    hint: didYouMean(name, remembered) ?? '`devctl context list` lists the contexts',
  })
}
