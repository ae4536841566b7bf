import { createHmac, type KeyObject } from 'node:crypto'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { KubernetesObject } from '../../constructs/manifest.ts'
import type { SealingCertificate } from './seal-certificate.ts'
import { encryptValue, looksEncrypted, type SealScope, scopeLabel } from './seal-format.ts'

/**
 * Marks, by key of the Secret. Equal marks prove that a value is unchanged without revealing it, so they may be stored
 * beside the sealed values.
 */
export type SealMarks = Readonly<Record<string, string>>

export interface SealOptions {
  /** Key for computing the marks, from `readSealingKey`. */
  readonly key: KeyObject
  /** Scope of the sealed values; `strict` by default. */
  readonly scope?: SealScope
  /** Result of the last run for this Secret; absent if there is none. */
  readonly previous?: { readonly sealed: KubernetesObject; readonly marks: SealMarks } | undefined
}

export interface Sealed {
  readonly manifest: KubernetesObject
  readonly marks: SealMarks
}

const SCOPE_ANNOTATION: Readonly<Record<SealScope, string | undefined>> = {
  strict: undefined,
  'namespace-wide': 'sealedsecrets.bitnami.com/namespace-wide',
  'cluster-wide': 'sealedsecrets.bitnami.com/cluster-wide',
}

/**
 * Annotations that are not copied: other scopes, and the copy of the Secret, including its values, that kubectl may
 * have left.
 */
const LEFT_OUT = new Set([...Object.values(SCOPE_ANNOTATION), 'kubectl.kubernetes.io/last-applied-configuration'])

/**
 * Converts a Secret to a SealedSecret, from which the cluster with that certificate creates the same Secret
 * (https://github.com/bitnami-labs/sealed-secrets). Encryption differs each time. To avoid a commit for an unchanged
 * value, the value keeps its result of the last run if the marks prove that it is unchanged. A value is sealed again if
 * the value, the certificate's key, the scope, the name or the key of the marks has changed. Throws a UserError for a
 * Secret without a namespace, unless the scope is `cluster-wide`.
 */
export function sealSecret(secret: KubernetesObject, certificate: SealingCertificate, options: SealOptions): Sealed {
  const { key, scope = 'strict', previous } = options
  const { name, namespace } = secret.metadata
  if (namespace === undefined && scope !== 'cluster-wide')
    throw new UserError(`the Secret \`${name}\` cannot be sealed: a sealed one is for one namespace, and it has none`, {
      hint: 'set `namespace:` of the environment in `devctl.yml`',
    })
  const label = scopeLabel(scope, namespace ?? '', name)
  const old = encryptedIn(previous?.sealed)
  const sealed = valuesOf(secret).map(([entry, value]) => {
    const mark = markOf(key, [certificate.fingerprint, scope, label, entry], value)
    const kept = previous?.marks[entry] === mark ? old[entry] : undefined
    const isKept = looksEncrypted(kept, certificate.publicKey, value.length)
    return { entry, mark, encrypted: isKept ? kept : encryptValue(certificate.publicKey, value, label) }
  })
  const encryptedData = Object.fromEntries(sealed.map(({ entry, encrypted }) => [entry, encrypted]))
  return {
    manifest: toSealedSecret(secret, scope, encryptedData),
    marks: Object.fromEntries(sealed.map(({ entry, mark }) => [entry, mark])),
  }
}

function toSealedSecret(
  secret: KubernetesObject,
  scope: SealScope,
  encryptedData: Readonly<Record<string, string>>,
): KubernetesObject {
  const { type, immutable } = secret
  return {
    apiVersion: 'bitnami.com/v1alpha1',
    kind: 'SealedSecret',
    metadata: toMetadata(secret.metadata, scope),
    spec: {
      // Metadata of the Secret that the controller creates.
      template: {
        metadata: toMetadata(secret.metadata, scope),
        ...(type !== undefined && { type }),
        ...(immutable !== undefined && { immutable }),
      },
      encryptedData,
    },
  }
}

/**
 * Returns the metadata with the scope. The controller reads the scope from the annotations of the SealedSecret;
 * kubeseal also writes it to the annotations of the Secret.
 */
function toMetadata(metadata: KubernetesObject['metadata'], scope: SealScope): KubernetesObject['metadata'] {
  const { name, namespace, labels } = metadata
  const annotation = SCOPE_ANNOTATION[scope]
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => !LEFT_OUT.has(key))
  if (annotation !== undefined) annotations.push([annotation, 'true'])
  annotations.sort(byKey)
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(labels && { labels }),
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
  }
}

/** Returns the values of a Secret by key, sorted. As in the API server, `stringData` takes precedence. */
function valuesOf({ data, stringData }: KubernetesObject): readonly (readonly [string, Buffer])[] {
  const entries = (map: unknown, encoding: BufferEncoding) =>
    Object.entries((map ?? {}) as Readonly<Record<string, string>>) // what a Secret has there
      .map(([key, text]) => [key, Buffer.from(text, encoding)] as const)
  return [...new Map([...entries(data, 'base64'), ...entries(stringData, 'utf8')])].sort(byKey)
}

function encryptedIn(sealed: KubernetesObject | undefined): Readonly<Record<string, unknown>> {
  const spec = sealed?.spec as { readonly encryptedData?: Readonly<Record<string, unknown>> } | null | undefined // read from a file; the values are checked
  return spec?.encryptedData ?? {}
}

/**
 * Returns the mark of a value: an HMAC of the parts, a line end, and the value. The value cannot be confused with the
 * parts, because their JSON contains no line ends.
 */
function markOf(key: KeyObject, parts: readonly string[], value: Uint8Array): string {
  return createHmac('sha256', key)
    .update(`${JSON.stringify(parts)}\n`)
    .update(value)
    .digest('hex')
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)
