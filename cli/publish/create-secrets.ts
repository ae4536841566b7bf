import { plural } from '../../compiler/diagnostics/render/summary.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { findTarget, type Target } from '../../operations/contexts/target.ts'
import { hasNamespace, noNamespace } from '../../operations/namespaces.ts'
import { addSecretKeys, missingKeys } from '../../operations/objects/secret-keys.ts'
import { openProject, targetOf } from '../../operations/project/open-project.ts'
import type { Session } from '../../operations/session.ts'
import { withCluster } from '../cluster-session.ts'
import type { Context } from '../command.ts'
import { INTERRUPTED } from '../exit-status.ts'
import type { Io } from '../io.ts'
import type { LoadingValues } from '../project-options.ts'
import { type NeededKey, neededKeys } from './needed-secrets.ts'

export interface CreateSecretsValues extends LoadingValues {
  readonly name: string | undefined
  readonly namespace: string | undefined
  readonly context: string | undefined
  readonly timeout: number | undefined
  readonly create: boolean
}

/**
 * Creates in the cluster the Secrets that the application reads and that nothing publishes, or adds the keys that they lack: where `--create` asks for it, or the person at the
 * terminal. Values are those of the Compose files and their variables, else what the person types. Gives the exit status: 1 while a value is missing, 130 when the person leaves.
 */
export async function createSecrets(context: Context, options: CreateSecretsValues): Promise<number> {
  const { io, logLevel } = context
  // As the answers have left it.
  const project = await openProject(io, options)
  const wish = targetOf(project, options)
  const needed = await neededKeys(io, options, project)
  if (needed.length === 0) {
    if (options.create) io.stdout.write('no Secret has to be created in the cluster\n')
    return 0
  }
  if (!options.create && !(await isWanted(io, needed, wish))) return 0
  const session = { ...wish, timeout: options.timeout, logLevel }
  return withCluster(io, session, found => addMissing(io, needed, found))
}

/** Asks the person at the terminal, where there is a cluster to ask about. */
async function isWanted(io: Io, needed: readonly NeededKey[], wish: ReturnType<typeof targetOf>): Promise<boolean> {
  if (!io.choose) return false
  let target: Target
  try {
    target = await findTarget(io, wish, wish.manifest)
  } catch (error) {
    // Answers can be given where there is no cluster.
    if (error instanceof UserError) return false
    throw error
  }
  const names = [...bySecret(needed).keys()].join(', ')
  const question = `Create what is missing of ${names} in the namespace ${target.namespace} of ${target.context}?`
  return (await io.choose(question, [{ value: 'no' }, { value: 'yes' }])) === 'yes'
}

async function addMissing(io: Io, needed: readonly NeededKey[], session: Session): Promise<number> {
  const { namespace } = session
  if ((await hasNamespace(session)) === false)
    throw await noNamespace(session, `\`kubectl create namespace ${namespace}\` creates it`)
  const left: NeededKey[] = []
  for (const [name, keys] of bySecret(needed)) {
    const rest = await addTo(io, name, keys, session)
    if (!rest) return INTERRUPTED
    left.push(...rest)
  }
  if (left.length === 0) return 0
  const shown = left.map(({ secret, key, usedBy }) => `\`${key}\` of \`${secret}\`, for ${paths(usedBy)}`)
  io.stderr.write(`error: ${plural(left.length, 'key')} without a value: ${shown.join('; ')}\n`)
  io.stderr.write(`  = help: ${HINT}\n`)
  return 1
}

const HINT = 'set the variables or files that the Compose files take them from, or type them at a terminal'

/** Gives the keys that are still missing; undefined when the person has left. */
async function addTo(
  io: Io,
  name: string,
  keys: readonly NeededKey[],
  { cluster, namespace, signal }: Session,
): Promise<readonly NeededKey[] | undefined> {
  const secret = { namespace, name }
  const names = keys.map(({ key }) => key)
  const missing = new Set(await missingKeys(cluster, secret, names, { signal }))
  if (missing.size === 0) io.stdout.write(`unchanged: secret/${name} in ${namespace}\n`)
  const values = new Map<string, Uint8Array>()
  for (const one of keys.filter(({ key }) => missing.has(key))) {
    const value = one.value ?? (await typed(io, one))
    if (!value) return undefined
    if (value.length > 0) values.set(one.key, value)
  }
  if (values.size > 0) {
    const done = await addSecretKeys(cluster, secret, values, { signal })
    io.stdout.write(`${done}: secret/${name} in ${namespace} (${[...values.keys()].join(', ')})\n`)
  }
  return keys.filter(({ key }) => missing.has(key) && !values.has(key))
}

/** What the person types; empty where nobody sits at a terminal; undefined when they leave. */
async function typed(io: Io, { secret, key, usedBy }: NeededKey): Promise<Uint8Array | undefined> {
  if (!io.askHidden) return new Uint8Array()
  const text = await io.askHidden(`Value of ${key} in the Secret ${secret}, for ${usedBy.join(', ')}`)
  if (text === undefined) return undefined
  io.secrets?.add([text])
  return new TextEncoder().encode(text)
}

function bySecret(needed: readonly NeededKey[]): ReadonlyMap<string, readonly NeededKey[]> {
  const found = new Map<string, NeededKey[]>()
  for (const one of needed) found.set(one.secret, [...(found.get(one.secret) ?? []), one])
  return found
}

const paths = (all: readonly string[]) => all.map(path => `\`${path}\``).join(', ')
