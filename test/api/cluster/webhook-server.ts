import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { type Cluster, eventually } from '../../support/cluster/cluster.ts'

/** Object and operation that the API server sends to an admission webhook for review. */
export interface Review {
  readonly uid: string
  readonly kind: { readonly kind: string }
  readonly name: string
  readonly operation: string
  readonly object: Readonly<Record<string, unknown>> | null
}

/** Answer of the webhook: it allows, refuses or changes the object with a JSON patch; or never answers. */
export type Verdict =
  | 'allow'
  | 'hang'
  | { readonly refuse: string }
  | { readonly patch: readonly { readonly op: 'add'; readonly path: string; readonly value: unknown }[] }

/** An admission webhook in this process, which the API server asks over https, about a namespace of a test. */
export class WebhookServer {
  /** Kinds and names that it was asked about. */
  readonly asked: string[] = []
  readonly #server: Server
  readonly #authority: string
  readonly #sockets = new Set<Duplex>()

  constructor(decide: (review: Review) => Verdict) {
    const { key, cert } = certificate()
    this.#authority = Buffer.from(cert).toString('base64')
    this.#server = createServer({ key, cert }, (incoming, response) => {
      const parts: Buffer[] = []
      incoming.on('data', part => parts.push(part))
      incoming.on('end', () => {
        const { request } = JSON.parse(Buffer.concat(parts).toString('utf8')) as { readonly request: Review }
        this.asked.push(`${request.operation} ${request.kind.kind}/${request.name}`)
        const verdict = decide(request)
        if (verdict === 'hang') return
        const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }
        const answer = JSON.stringify({ ...review, response: { uid: request.uid, ...responseOf(verdict) } })
        response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
      })
    })
    this.#server.on('connection', socket => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  /**
   * Listens, and has the API server ask about such objects of the namespace; returns when it does. `name` is that of
   * the configuration and the webhook, which may take `seconds`.
   */
  async register(
    cluster: Cluster,
    kind: 'Validating' | 'Mutating',
    {
      namespace,
      name,
      resources,
      seconds = 1,
    }: {
      readonly namespace: string
      readonly name: string
      readonly resources: readonly string[]
      readonly seconds?: number
    },
  ): Promise<void> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
    const { port } = this.#server.address() as AddressInfo // it listens at a port
    const webhook = {
      name,
      clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: this.#authority },
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      rules: [
        {
          apiGroups: ['*'],
          apiVersions: ['v1'],
          operations: ['CREATE', 'UPDATE', 'DELETE'],
          resources,
          scope: 'Namespaced',
        },
        // By which it is found out whether the API server knows of it.
        {
          apiGroups: [''],
          apiVersions: ['v1'],
          operations: ['CREATE'],
          resources: ['limitranges'],
          scope: 'Namespaced',
        },
      ],
      failurePolicy: 'Fail',
      sideEffects: 'None',
      timeoutSeconds: seconds,
      admissionReviewVersions: ['v1'],
    }
    const path = `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`
    const { status, body } = await cluster.send('POST', path, { metadata: { name }, webhooks: [webhook] })
    if (status !== 201) throw new Error(`webhook ${name}: ${body}`)
    const probe = { metadata: { name: 'probe' }, spec: { limits: [] } }
    await eventually(`the webhook ${name} is asked`, async () => {
      await cluster.send('POST', `/api/v1/namespaces/${namespace}/limitranges?dryRun=All`, probe)
      return this.asked.length > 0 || undefined
    })
    this.asked.splice(0)
  }

  /** Takes the configuration away, and closes. */
  async close(cluster: Cluster, kind: 'Validating' | 'Mutating', name: string): Promise<void> {
    await cluster.send(
      'DELETE',
      `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations/${name}`,
    )
    for (const socket of this.#sockets) socket.destroy()
    await new Promise<void>(resolve => this.#server.close(() => resolve()))
  }
}

function responseOf(verdict: Exclude<Verdict, 'hang'>): object {
  if (verdict === 'allow') return { allowed: true }
  if ('refuse' in verdict) return { allowed: false, status: { message: verdict.refuse } }
  const patch = Buffer.from(JSON.stringify(verdict.patch)).toString('base64')
  return { allowed: true, patchType: 'JSONPatch', patch }
}

/** A key, and a certificate that is signed by itself. */
function certificate(): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-webhook-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const names = ['-subj', '/CN=webhook', '-addext', 'subjectAltName=IP:127.0.0.1']
  try {
    execFileSync('openssl', ['req', '-x509', ...curve, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
