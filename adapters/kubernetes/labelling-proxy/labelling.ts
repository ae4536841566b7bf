import { rootOf } from '../address.ts'
import { type ApiPath, isLasting, parseApiPath } from './api-path.ts'
import { parseExact, printExact } from './exact-json.ts'
import {
  isFields,
  type JsonFields,
  type LabelOwner,
  labelObject,
  labelsOf,
  type ObjectLabels,
  ownerLabels,
  ownerOf,
  spellOut,
  templatePath,
} from './label-object.ts'
import { ENVIRONMENT_LABEL } from './labels.ts'
import { type BinaryObject, labelBinary, parseBinary } from './protobuf.ts'
import { Refusal } from './status.ts'
import type { Upstream } from './upstream.ts'

/**
 * Kind of an object that a command wrote. `namespace` is null for a cluster-scoped object, and absent for an object in
 * the namespace of the environment.
 */
export interface WrittenKind {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | null
}

export interface Write {
  readonly method: string
  /** Path of the request, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly contentType: string
  readonly userAgent: string
  readonly body: Buffer
  readonly signal: AbortSignal
}

/** Action of a write: create an object, replace it, apply it with server-side apply, or patch it. */
type Verb = 'create' | 'replace' | 'apply' | 'patch'

/** Objects that Kubernetes creates in each namespace; they never belong to a command, even if it applies them. */
const STANDARD = new Set(['serviceaccounts/default', 'configmaps/kube-root-ca.crt'])

/**
 * Adds the labels of an environment to written objects, and records their kinds. Objects that a command creates belong
 * to the environment. So do existing unlabelled objects that a command declares (`apply`, `replace`, `helm upgrade`).
 * Objects that a command only changes (`kubectl patch`, `label`, `scale`) do not, nor do existing cluster-scoped
 * objects: destroy would delete them although others use them.
 */
export class Labelling {
  readonly #owner: LabelOwner
  readonly #upstream: Upstream
  readonly #remember: (kind: WrittenKind) => Promise<void>
  readonly #written = new Map<string, { readonly kind: WrittenKind; readonly remembered: Promise<void> }>()

  /** `remember` is called before the first object of each kind is written; the write waits for it. */
  constructor(owner: LabelOwner, upstream: Upstream, remember: (kind: WrittenKind) => Promise<void>) {
    this.#owner = owner
    this.#upstream = upstream
    this.#remember = remember
  }

  get written(): readonly WrittenKind[] {
    return [...this.#written.values()].map(({ kind }) => kind)
  }

  /**
   * Returns the body to send for a write: with the labels if the object has to be labelled, otherwise unchanged. Throws
   * a Refusal if the object belongs to another environment.
   */
  async label(write: Write): Promise<Buffer> {
    const path = parseApiPath(write.path)
    const verb = verbOf(write)
    if (path === undefined || verb === undefined || !isLasting(path) || path.subresource !== undefined)
      return write.body
    if ((verb === 'create') === (path.name !== undefined)) return write.body
    // A devctl that a command runs labels its own objects and keeps its own record.
    if (/^devctl\b/.test(write.userAgent)) return write.body
    if (STANDARD.has(`${path.resource}/${path.name}`)) return write.body
    const body = await parseBody(write)
    if (body === undefined) return write.body

    this.#refuseOthers(path, body.binary?.labels ?? labelsOf(body.object))
    const live = verb === 'create' ? undefined : await this.#live(path, write.signal)
    if (live !== undefined) {
      this.#refuseOthers(path, labelsOf(live))
      if (path.namespace === undefined && labelsOf(live)[ENVIRONMENT_LABEL] === undefined) return write.body
    }
    // A dry run is labelled, so that `kubectl diff` shows the labels, but its kind is not recorded.
    if (!write.query.has('dryRun')) await this.#note(path, body.binary?.kind ?? body.object['kind'], write.signal)

    const labels = ownerLabels(this.#owner, path.namespace)
    const way = templatePath(path.apiVersion, path.resource)
    // The template of a Job is immutable: it keeps the labels that it was created with.
    const isFixed = path.resource === 'jobs' && live !== undefined && way !== undefined
    const template = isFixed && (verb === 'patch' || !(ENVIRONMENT_LABEL in labelsOf(live, way))) ? undefined : way
    if (body.binary) return labelBinary(body.binary, labels, template !== undefined)
    const object = verb === 'patch' ? spellOut(spellOut(body.object, live ?? {}), live ?? {}, way) : body.object
    // JSON is valid YAML, too.
    return Buffer.from(printExact(labelObject(object, labels, template)))
  }

  #refuseOthers(path: ApiPath, labels: ObjectLabels): void {
    const owner = ownerOf(labels, path.namespace)
    const isOurs = owner?.environment === this.#owner.environment && owner.namespace === this.#owner.namespace
    if (owner === undefined || isOurs) return
    const where =
      owner.namespace === undefined || owner.namespace === this.#owner.namespace
        ? ''
        : ` in namespace \`${owner.namespace}\``
    // A 403, because kubectl would retry after a 409 for several seconds.
    throw new Refusal(
      403,
      'Forbidden',
      `${path.resource} "${path.name ?? ''}" belongs to environment \`${owner.environment}\`${where} (label ${ENVIRONMENT_LABEL}), but the command belongs to environment \`${this.#owner.environment}\`: use another name, or destroy the other environment first`,
    )
  }

  /**
   * Returns the live object; only its metadata if objects of this resource have no Pod template. Undefined if the
   * object does not exist or the user has no permission to read it.
   */
  async #live(path: ApiPath, signal: AbortSignal): Promise<JsonFields | undefined> {
    const within = path.namespace === undefined ? '' : `/namespaces/${encodeURIComponent(path.namespace)}`
    const whole = templatePath(path.apiVersion, path.resource) !== undefined
    const found = await this.#upstream.json(
      `${rootOf(path.apiVersion)}${within}/${path.resource}/${encodeURIComponent(path.name!)}`,
      whole ? 'application/json' : 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
      signal,
    )
    return isFields(found) ? found : undefined
  }

  async #note(path: ApiPath, named: unknown, signal: AbortSignal): Promise<void> {
    const { apiVersion, namespace = null } = path
    const kind = typeof named === 'string' && named !== '' ? named : await this.#kindOf(path, signal)
    if (kind === undefined) return
    const elsewhere = namespace === this.#owner.namespace ? undefined : namespace
    const one: WrittenKind = { apiVersion, kind, ...(elsewhere !== undefined && { namespace: elsewhere }) }
    const key = JSON.stringify(one)
    let entry = this.#written.get(key)
    if (entry === undefined) {
      entry = { kind: one, remembered: this.#remember(one) }
      this.#written.set(key, entry)
      // The next write of this kind tries again after a failure.
      entry.remembered.catch(() => this.#written.delete(key))
    }
    await entry.remembered
  }

  /**
   * Returns the kind of a resource, because a merge patch does not contain it. Undefined if the server does not list
   * the resource.
   */
  async #kindOf({ apiVersion, resource }: ApiPath, signal: AbortSignal): Promise<string | undefined> {
    const list = await this.#upstream.json(rootOf(apiVersion), 'application/json', signal)
    const resources = isFields(list) && Array.isArray(list['resources']) ? list['resources'] : []
    return resources.find(one => isFields(one) && one['name'] === resource)?.kind
  }
}

function verbOf({ method, contentType, query, body }: Write): Verb | undefined {
  if (method === 'POST') return 'create'
  if (method === 'PUT') return 'replace'
  if (method !== 'PATCH') return undefined
  if (contentType.startsWith('application/apply-patch')) return 'apply'
  if (!/^application\/(strategic-)?merge-patch\+json/.test(contentType)) return undefined
  // `kubectl apply` and `helm upgrade` declare the full object, though they send only the differences; other patches
  // only change parts.
  const isDeclared = /^(kubectl-client-side-apply|helm)/.test(query.get('fieldManager') ?? '')
  return isDeclared || body.includes('kubectl.kubernetes.io/last-applied-configuration') ? 'patch' : undefined
}

interface Body {
  readonly object: JsonFields
  /** The object in protobuf encoding; `object` is then empty. */
  readonly binary?: BinaryObject
}

/**
 * Parses the body of a write. Returns undefined if the body cannot be parsed: the server then reports what is wrong
 * with the body. Throws a Refusal for CBOR.
 */
async function parseBody({ body, contentType }: Write): Promise<Body | undefined> {
  if (contentType.startsWith('application/vnd.kubernetes.protobuf')) {
    const binary = parseBinary(body)
    return binary && { object: {}, binary }
  }
  // Clients then fall back to JSON.
  if (contentType.includes('cbor')) throw new Refusal(415, 'UnsupportedMediaType', 'CBOR is not read here: send JSON')
  const text = body.toString('utf8')
  const value = await parseText(text, contentType.includes('yaml'))
  return isFields(value) && !isList(value) ? { object: value } : undefined
}

async function parseText(text: string, mayBeYaml: boolean): Promise<unknown> {
  try {
    return parseExact(text)
  } catch {
    if (!mayBeYaml) return undefined
  }
  const { load, YAML11_SCHEMA } = await import('js-yaml')
  try {
    // YAML 1.1, as the API server reads it: `yes` is true, 0755 is octal.
    return load(text, { schema: YAML11_SCHEMA })
  } catch {
    return undefined
  }
}

const isList = ({ kind, items }: JsonFields) =>
  typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)
