import { createHmac, randomBytes } from 'node:crypto'
import { type CallOptions, type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Plan, SecretPlan, WorkloadPlan } from '../../compiler/plan/plan.ts'
import { applyToStay, isEnding } from '../apply/removal.ts'
import { MANAGER, ownLabels, SECRETS_ANNOTATION } from '../labels.ts'
import { recordName } from './record.ts'

/**
 * Marks each Pod template that uses secrets of the plan with an HMAC of their content: when a secret changes, so does
 * the template, and its Pods are replaced. Nobody can check guessed values against the mark without the key.
 */
export function markSecrets(plan: Plan, key: string): Plan {
  const byName = new Map(plan.secrets.map(secret => [secret.name, secret]))
  return { ...plan, workloads: plan.workloads.map(workload => marked(workload, byName, key)) }
}

function marked<W extends WorkloadPlan>(workload: W, secrets: ReadonlyMap<string, SecretPlan>, key: string): W {
  const { pod } = workload
  const names = new Set([
    ...pod.volumes.flatMap(volume => (volume.kind === 'secret' ? [volume.secret] : [])),
    ...[...pod.containers, ...pod.init].flatMap(({ env }) => env.flatMap(({ secret }) => secret?.name ?? [])),
  ])
  const used = [...names].flatMap(name => secrets.get(name) ?? [])
  if (used.length === 0) return workload
  const hmac = createHmac('sha256', key)
  for (const { name, data } of used.sort((a, b) => (a.name < b.name ? -1 : 1)))
    for (const file of Object.keys(data).sort()) hmac.update(JSON.stringify([name, file])).update(data[file]!)
  const mark = hmac.digest('hex').slice(0, 16)
  return { ...workload, pod: { ...pod, annotations: { ...pod.annotations, [SECRETS_ANNOTATION]: mark } } }
}

/**
 * Content of an environment's Secret. It is not in a ConfigMap, because a user who may only read ConfigMaps must not be
 * able to check guessed values.
 */
export interface KeptSecrets {
  /** Key of the HMACs in the marks. */
  readonly key: string
  /**
   * Variables that the last deploy passed to commands with `--var`, and variables that commands exported. The commands
   * of a destroy receive these variables, too.
   */
  readonly variables: Readonly<Record<string, string>>
  /** True if the Secret is being deleted: the content is still valid, but has to be written again. */
  readonly isEnding?: boolean
}

/** Returns the reference to the environment's Secret. */
export const keptRef = (environment: string, namespace: string) =>
  ({ apiVersion: 'v1', kind: 'Secret', name: recordName(environment), namespace }) as const

/**
 * Returns the content of the environment's Secret; undefined if it does not exist. Throws a UserError if another tool
 * or user has changed its variables.
 */
export async function readKept(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions,
): Promise<KeptSecrets | undefined> {
  const ref = keptRef(environment, namespace)
  const found = await cluster.get(ref, options)
  const data = found?.['data'] as Readonly<Record<string, string>> | undefined // a Secret's data are texts in base64
  const text = (name: string) => Buffer.from(data?.[name] ?? '', 'base64').toString()
  const key = text('key')
  if (!found || key === '') return undefined
  const variables = variablesIn(text('variables'))
  if (!variables) {
    const { name } = ref
    throw new UserError(`the Secret \`${name}\` of the environment contains \`variables\` that devctl did not write`, {
      hint: `remove them, and set the variables again: \`kubectl --namespace ${namespace} patch secret ${name} --type json --patch '[{"op": "remove", "path": "/data/variables"}]'\``,
    })
  }
  return { key, variables, ...(isEnding(found) && { isEnding: true }) }
}

/** Parses the variables; undefined if the text is not a JSON object of strings. */
function variablesIn(text: string): Readonly<Record<string, string>> | undefined {
  if (text === '') return {}
  try {
    const found: unknown = JSON.parse(text)
    const isOurs = typeof found === 'object' && found !== null && !Array.isArray(found)
    return isOurs && Object.values(found).every(value => typeof value === 'string') ? { ...found } : undefined
  } catch {
    return undefined
  }
}

/** Creates a new key, without storing it in the cluster. */
export const newKey = (): string => randomBytes(32).toString('hex')

/** Stores the secrets in the cluster. If an old Secret is being deleted, waits for the deletion first. */
export async function writeKept(
  cluster: Cluster,
  environment: string,
  namespace: string,
  { key, variables }: KeptSecrets,
  options: CallOptions,
): Promise<void> {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const handed = Object.keys(variables).length > 0 ? { variables: base64(JSON.stringify(variables)) } : {}
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: recordName(environment), namespace, labels: ownLabels(environment) },
    data: { key: base64(key), ...handed },
  }
  await applyToStay(cluster, object, { ...options, manager: MANAGER, force: true })
}

/** Deletes the environment's Secret. */
export async function deleteKept(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions,
): Promise<void> {
  try {
    await cluster.delete(keptRef(environment, namespace), options)
  } catch (error) {
    // A user without permission for Secrets has not deployed any.
    if (!(error instanceof ClusterError && error.failure === 'forbidden')) throw error
  }
}
