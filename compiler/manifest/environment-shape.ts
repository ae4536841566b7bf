import { cli } from '../schema/row.ts'
import { either, flag, keyValues, list, object, record, type Shape, textOrList, word } from '../schema/shape.ts'
import { FORGE_KINDS } from '../values/repository-names.ts'
import { ageRecipient, dnsName, filled, gatewayName, kubernetesName, secretKey } from './values-shape.ts'

const reference: Shape = object(
  {
    secret: cli(dnsName(), 'the Secret'),
    key: cli(secretKey(), 'the key in it'),
    remote: cli(filled(), 'what an ExternalSecret asks the store for', 'the name of the Secret'),
    property: cli(filled(), 'the part of it', 'the key'),
  },
  { required: ['secret', 'key'] },
)

const secrets: Shape = object({
  backend: cli(
    word(['reference', 'external', 'sealed', 'sops']),
    'where values come from: Secrets that are in the namespace, ExternalSecrets, or the values themselves, as SealedSecrets or as Secrets that SOPS has encrypted',
    '`reference`',
  ),
  store: cli(dnsName(), 'the SecretStore of ExternalSecrets'),
  storeKind: cli(word(['SecretStore', 'ClusterSecretStore']), 'its kind', '`SecretStore`'),
  certificate: cli(filled(), 'file with the certificate of the cluster for SealedSecrets (`kubeseal --fetch-cert`)'),
  age: cli(
    list(ageRecipient(), { unique: true }),
    'public keys for which `sops` encrypts',
    'what `.sops.yaml` of the GitOps repository says',
  ),
  values: cli(
    record(cli(reference, 'the Secret and key that the value is taken from'), { called: 'PATH' }),
    'values that come from Secrets, in all that devctl makes, by their path: `services.db.environment.POSTGRES_PASSWORD`, `secrets.token`',
  ),
  public: cli(list(filled()), 'paths of values that look secret and are not: they are written as they are'),
})

const pullRequest: Shape = either(
  flag(),
  object({
    labels: cli(list(filled(), { unique: true }), 'labels that it gets'),
    reviewers: cli(
      list(filled(), { unique: true }),
      'users who are asked to review it; `org/team` for a team of GitHub or Gitea',
    ),
    draft: cli(flag(), 'open it as a draft', '`false`'),
    forge: cli(word(FORGE_KINDS), 'as `--forge`', 'told by the host, else the server is asked'),
  }),
)

/** What `--environment NAME` stands for. */
export const environment: Shape = object({
  name: cli(filled(), 'name of the application there', '`name` of the manifest'),
  namespace: cli(kubernetesName(), 'as `--namespace`'),
  context: cli(filled(), 'as `--context`'),
  domain: cli(dnsName(), 'as `--domain`', '`domain` of the manifest'),
  compose: cli(textOrList(), 'Compose files that are merged over the others'),
  profiles: cli(textOrList(), 'as `--profile`'),
  variables: cli(keyValues(), 'variables of the Compose files, below the shell and above `.env`'),
  envFiles: cli(textOrList(), 'as `--env-file`'),
  routes: cli(word(['ingress', 'gateway']), 'as `--routes`'),
  gateway: cli(gatewayName(), 'as `--gateway`'),
  ingressClass: cli(dnsName(), 'as `--ingress-class`'),
  tlsSecret: cli(dnsName(), 'as `--tls-secret`'),
  tls: cli(
    object({
      secret: cli(dnsName(), 'as `tlsSecret`'),
      issuer: cli(dnsName(), 'an Issuer of cert-manager, which makes a certificate for each Ingress'),
      clusterIssuer: cli(dnsName(), 'a ClusterIssuer of cert-manager'),
    }),
    'where the certificates of all hosts come from; an endpoint may say otherwise',
  ),
  routeAnnotations: cli(keyValues(), 'annotations of the routes'),
  policy: cli(word(['restricted']), 'as `--policy`'),
  registry: cli(filled(), 'as `--registry`', '`registry` of the manifest'),
  images: cli(record(filled(), { called: 'SERVICE' }), 'as `--image`, by service'),
  shellImage: cli(filled(), 'image of the containers that wait and copy', '`busybox:1.37`'),
  kubectlImage: cli(filled(), 'image of the containers that wait for a Job'),
  repository: cli(
    filled(),
    'address of the GitOps repository that `publish` commits to, or a folder, relative to that of the manifest',
  ),
  oci: cli(
    filled(),
    'registry and path that `publish` pushes the folder to as an artifact, in place of a commit: `REGISTRY/PATH` or `REGISTRY/PATH:TAG`',
  ),
  branch: cli(filled(), 'branch of the repository, made where there is none', 'the main branch'),
  path: cli(
    filled(),
    'folder of the application in the repository; `.` is its root',
    '`environments/ENVIRONMENT/NAME`',
  ),
  layout: cli(
    word(['plain', 'single-file', 'kustomize']),
    'one file per object, one file for all, or a base with an overlay for each environment',
    '`plain`',
  ),
  pullRequest: cli(pullRequest, 'push to a branch `devctl/ENVIRONMENT/NAME`, and open its pull request', '`false`'),
  createNamespace: cli(
    flag(),
    'the object of the namespace is in the repository, too, with the Pod Security level that the Pods need',
    '`false`',
  ),
  syncWaves: cli(
    flag(),
    'sync waves of Argo CD, where a service waits until another is healthy or has completed',
    '`false`',
  ),
  secrets: cli(secrets, 'which values are secret, and where they come from (docs/gitops.md)'),
})
