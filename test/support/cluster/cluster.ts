import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { delimiter, dirname, join } from 'node:path'
import { parse } from 'yaml'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { ANSWER_MS } from '../deadlines.ts'

export interface Answer {
  readonly status: number
  readonly body: string
  /** Texts of the `Warning` headers. */
  readonly warnings: readonly string[]
}

/**
 * Time in milliseconds after which an idle connection to the API server is closed. The API server closes it after 90 s,
 * and a request that is sent at this moment would fail.
 */
export const IDLE_MS = 30_000

/** The cluster that KUBECONFIG names, over plain https; undefined without one, and then the tests are left out. */
export function findCluster(): Cluster | undefined {
  const file = process.env.KUBECONFIG
  if (file === undefined || file === '') {
    console.warn('KUBECONFIG is not set: the tests that need a cluster are left out')
    return undefined
  }
  return new Cluster(file)
}

/** Minimal Kubernetes client, with only what the tests need. */
export class Cluster {
  readonly #kubeconfig: string
  readonly #server: URL
  readonly #agent: Agent

  constructor(kubeconfig: string) {
    this.#kubeconfig = kubeconfig
    const config = parse(readFileSync(kubeconfig, 'utf8'))
    const context = config.contexts.find((one: { name: string }) => one.name === config['current-context']).context
    const { cluster } = config.clusters.find((one: { name: string }) => one.name === context.cluster)
    const { user } = config.users.find((one: { name: string }) => one.name === context.user)
    const pem = (text: string) => Buffer.from(text, 'base64')
    this.#server = new URL(cluster.server)
    this.#agent = new Agent({
      keepAlive: true,
      timeout: IDLE_MS,
      maxSockets: 8,
      ca: pem(cluster['certificate-authority-data']),
      cert: pem(user['client-certificate-data']),
      key: pem(user['client-key-data']),
    })
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Sends a request; an answer with an error status is an answer. Rejects after `ANSWER_MS`. */
  send(method: string, path: string, body?: unknown, type = 'application/json'): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body)
      // A DELETE without a length is not sent with its body.
      const headers =
        text === undefined ? {} : { 'content-type': type, 'content-length': String(Buffer.byteLength(text)) }
      const sent = request(
        new URL(path, this.#server),
        { method, headers, agent: this.#agent, timeout: ANSWER_MS },
        response => {
          const parts: Buffer[] = []
          response.on('data', part => parts.push(part))
          response.on('error', reject)
          response.on('end', () => {
            const warning = response.headers.warning ?? ''
            // 299 - "text", several of them joined by commas
            const warnings = [...warning.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(match => match[1]!)
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8'), warnings })
          })
        },
      )
      sent.on('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer in ${ANSWER_MS / 1000} s`)))
      sent.on('error', reject)
      sent.end(text)
    })
  }

  /** The parsed answer, whose shape is the caller's to know; throws when it is an error. */
  async get<T>(path: string): Promise<T> {
    const { status, body } = await this.send('GET', path)
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${body.slice(0, 500)}`)
    return JSON.parse(body)
  }

  /**
   * Server-side apply with strict field validation, as `devctl deploy` and `kubectl apply --server-side
   * --validate=strict` do it.
   */
  apply(object: KubernetesObject, namespace: string | undefined, { dryRun = false } = {}): Promise<Answer> {
    const path = `${pathOf(object, namespace)}?fieldManager=devctl&fieldValidation=Strict&force=true${dryRun ? '&dryRun=All' : ''}`
    return this.send(
      'PATCH',
      path,
      { ...object, metadata: { ...object.metadata, namespace } },
      'application/apply-patch+yaml',
    )
  }

  /** Makes a namespace for a test; labels as for Pod Security. */
  async createNamespace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    const { status, body } = await this.send('POST', '/api/v1/namespaces', { metadata: { name, labels } })
    if (status !== 201) throw new Error(`namespace ${name}: ${body}`)
  }

  /** Asks for a namespace's deletion; does not wait for its end. */
  async deleteNamespace(name: string): Promise<void> {
    await this.send('DELETE', `/api/v1/namespaces/${name}`)
  }

  /**
   * The output of kubectl, which is on the PATH or beside the kubeconfig; rejects when it fails or takes longer than
   * 110 s.
   */
  kubectl(...args: readonly string[]): Promise<string> {
    const path = `${join(dirname(this.#kubeconfig), 'bin')}${delimiter}${process.env.PATH}`
    const env = { ...process.env, PATH: path, KUBECONFIG: this.#kubeconfig }
    return new Promise((resolve, reject) => {
      execFile('kubectl', args, { env, timeout: 110_000, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
        if (error) reject(new Error(`kubectl ${args.join(' ')}: ${stderr}${stdout}`, { cause: error }))
        else resolve(stdout)
      })
    })
  }

  /** Returns true if Pods can run: an API server alone has no nodes. */
  async hasNodes(): Promise<boolean> {
    const nodes = JSON.parse((await this.send('GET', '/api/v1/nodes')).body)
    return nodes.items.length > 0
  }

  /** The authority that signs the certificates of routes, where the test cluster keeps it. */
  routeAuthority(): Buffer | undefined {
    const file = join(dirname(this.#kubeconfig), 'pki/ca.crt')
    return existsSync(file) ? readFileSync(file) : undefined
  }
}

const RESOURCES: Readonly<Record<string, string>> = {
  ConfigMap: 'configmaps',
  CronJob: 'cronjobs',
  CustomResourceDefinition: 'customresourcedefinitions',
  DaemonSet: 'daemonsets',
  Deployment: 'deployments',
  HTTPRoute: 'httproutes',
  HorizontalPodAutoscaler: 'horizontalpodautoscalers',
  Ingress: 'ingresses',
  Job: 'jobs',
  NetworkPolicy: 'networkpolicies',
  PersistentVolumeClaim: 'persistentvolumeclaims',
  Pod: 'pods',
  PodDisruptionBudget: 'poddisruptionbudgets',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  Secret: 'secrets',
  Service: 'services',
  ServiceAccount: 'serviceaccounts',
  StatefulSet: 'statefulsets',
}

/** The path of an object in the API; without a namespace, of the cluster's. */
export function pathOf({ apiVersion, kind, metadata }: KubernetesObject, namespace: string | undefined): string {
  const resource = RESOURCES[kind]
  if (resource === undefined) throw new Error(`${kind} is not among the kinds that the tests know`)
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  return `${group}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${resource}/${metadata.name}`
}

/**
 * Limits of a wait: after so many seconds it throws what `explain` returns; `pause`, in milliseconds, grows up to this
 * between attempts.
 */
interface WaitOptions {
  readonly seconds?: number
  readonly pause?: number
  readonly explain?: () => Promise<string>
}

/**
 * Tries until the attempt returns something else than undefined. A machine that is busy may need minutes for what takes
 * a second alone; so that the attempts do not keep it busy, there is at least as much time between them as the last one
 * took.
 */
export async function eventually<T>(
  what: string,
  attempt: () => Promise<T | undefined>,
  { seconds = 180, pause = 300, explain = async () => '' }: WaitOptions = {},
): Promise<T> {
  const deadline = Date.now() + seconds * 1000
  for (let next = 50; ; next *= 2) {
    const began = Date.now()
    const result = await attempt()
    if (result !== undefined) return result
    const now = Date.now()
    if (now > deadline) throw new Error(`${what}: not after ${seconds} s\n${await explain()}`)
    await new Promise(resolve => setTimeout(resolve, Math.max(Math.min(next, pause), now - began)))
  }
}

/**
 * Waits until the API server knows a role binding that has just been made: until the user may list the Pods of the
 * namespace.
 */
export async function bindingInForce(cluster: Cluster, namespace: string, user: string): Promise<void> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, resourceAttributes: { namespace, verb: 'list', resource: 'pods' } },
  }
  await eventually(`${user} may list the Pods of ${namespace}`, async () => {
    const { body } = await cluster.send('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review)
    return JSON.parse(body).status?.allowed === true ? true : undefined
  })
}
