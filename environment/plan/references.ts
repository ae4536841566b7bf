import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { templateOf } from '../../constructs/manifest.ts'

/** Fields of a Pod spec that refer to another object, with the kind of that object and the key of its name. */
const NAMING: Readonly<Record<string, readonly [kind: string, key: string]>> = {
  configMap: ['ConfigMap', 'name'],
  configMapRef: ['ConfigMap', 'name'],
  configMapKeyRef: ['ConfigMap', 'name'],
  secret: ['Secret', 'secretName'],
  secretRef: ['Secret', 'name'],
  secretKeyRef: ['Secret', 'name'],
  imagePullSecrets: ['Secret', 'name'],
  persistentVolumeClaim: ['PersistentVolumeClaim', 'claimName'],
}

/** Kinds whose objects create a Secret of the same name: External Secrets and Sealed Secrets. */
const MAKES_SECRET = new Set(['ExternalSecret', 'SealedSecret'])

/** Returns the name that `referencesOf` uses for an object: `ConfigMap/page`. */
export const referenceTo = ({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): string =>
  `${MAKES_SECRET.has(kind) ? 'Secret' : kind}/${metadata.name}`

/**
 * Returns the ConfigMaps, Secrets, claims and accounts that the Pods of a workload refer to, in the notation of
 * `referenceTo`.
 */
export function referencesOf(workload: Pick<KubeObject, 'kind'> & Readonly<Record<string, unknown>>): Set<string> {
  const found = new Set<string>()
  const spec = templateOf<{ readonly spec?: unknown }>(workload)?.spec
  const account = (spec as { readonly serviceAccountName?: string } | undefined)?.serviceAccountName
  // The Role and RoleBinding of an account that waits for Jobs have the account's name.
  if (account !== undefined)
    for (const kind of ['ServiceAccount', 'Role', 'RoleBinding']) found.add(`${kind}/${account}`)
  collect(spec, found)
  return found
}

function collect(value: unknown, found: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) collect(item, found)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  for (const [field, inner] of Object.entries(value)) {
    const [kind, key] = NAMING[field] ?? []
    for (const one of Array.isArray(inner) ? inner : [inner]) {
      // A projected volume names a Secret by `name`, all other volumes by `secretName`.
      const name = key === undefined ? undefined : (one?.[key] ?? one?.name)
      if (typeof name === 'string') found.add(`${kind}/${name}`)
    }
    collect(inner, found)
  }
}
