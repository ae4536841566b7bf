import { cli } from '../schema/row.ts'
import { either, flag, keyValues, list, object, record, type Shape, textOrList, word } from '../schema/shape.ts'
import { FORGE_KINDS } from '../values/repository-names.ts'
import { ageRecipient, dnsName, filled, gatewayName, kubernetesName, secretKey } from './values-shape.ts'

const reference: Shape = object(
  {
    secret: cli(dnsName(), 'the Secret'),
    key: cli(secretKey(), 'its key'),
    remote: cli(filled(), '`remoteRef.key` of the ExternalSecret', 'the name of the Secret'),
    property: cli(filled(), '`remoteRef.property` of the ExternalSecret', 'the key'),
  },
  { required: ['secret', 'key'] },
)

const secrets: Shape = object({
  backend: cli(
    word(['reference', 'external', 'sealed', 'sops']),
    'source of the values: existing Secrets in the namespace, ExternalSecrets, SealedSecrets, or Secrets encrypted with SOPS',
    '`reference`',
  ),
  store: cli(dnsName(), 'SecretStore of the ExternalSecrets'),
  storeKind: cli(word(['SecretStore', 'ClusterSecretStore']), 'its kind', '`SecretStore`'),
  certificate: cli(filled(), 'file with the SealedSecrets certificate of the cluster (`kubeseal --fetch-cert`)'),
  age: cli(
    list(ageRecipient(), { unique: true }),
    'public keys that `sops` encrypts for',
    '`.sops.yaml` of the GitOps repository',
  ),
  values: cli(
    record(cli(reference, 'the Secret and key to take the value from'), { called: 'PATH' }),
    'values to take from Secrets, by path: `services.db.environment.POSTGRES_PASSWORD`, `secrets.token`',
  ),
  public: cli(list(filled()), 'paths of values that look secret but are not: they are written as plain text'),
})

const pullRequest: Shape = either(
  flag(),
  object({
    labels: cli(list(filled(), { unique: true }), 'labels of the request'),
    reviewers: cli(
      list(filled(), { unique: true }),
      'users to request a review from; `org/team` for a team on GitHub or Gitea',
    ),
    draft: cli(flag(), 'open it as a draft', '`false`'),
    forge: cli(word(FORGE_KINDS), 'as `--forge`', 'detected from the host, or by asking the server'),
  }),
)

/** The shape of an environment, which `--environment NAME` selects. */
export const environment: Shape = object({
  name: cli(filled(), 'name of the application', '`name` of the manifest'),
  namespace: cli(kubernetesName(), 'as `--namespace`'),
  context: cli(filled(), 'as `--context`'),
  domain: cli(dnsName(), 'as `--domain`', '`domain` of the manifest'),
  compose: cli(textOrList(), 'Compose files to merge over the others'),
  profiles: cli(textOrList(), 'as `--profile`'),
  variables: cli(keyValues(), 'variables of the Compose files; they override `.env`, and the shell overrides them'),
  envFiles: cli(textOrList(), 'as `--env-file`'),
  routes: cli(word(['ingress', 'gateway']), 'as `--routes`'),
  gateway: cli(gatewayName(), 'as `--gateway`'),
  ingressClass: cli(dnsName(), 'as `--ingress-class`'),
  tlsSecret: cli(dnsName(), 'as `--tls-secret`'),
  tls: cli(
    object({
      secret: cli(dnsName(), 'as `tlsSecret`'),
      issuer: cli(dnsName(), 'a cert-manager Issuer, which issues a certificate for each Ingress'),
      clusterIssuer: cli(dnsName(), 'a cert-manager ClusterIssuer'),
    }),
    'source of the certificates of all hosts; an endpoint can override it',
  ),
  routeAnnotations: cli(keyValues(), 'annotations of the routes'),
  policy: cli(word(['restricted']), 'as `--policy`'),
  registry: cli(filled(), 'as `--registry`', '`registry` of the manifest'),
  images: cli(record(filled(), { called: 'SERVICE' }), 'as `--image`, by service'),
  shellImage: cli(filled(), 'image of init containers that wait or copy', '`busybox:1.37`'),
  kubectlImage: cli(filled(), 'image of init containers that wait for a Job'),
  repository: cli(filled(), 'GitOps repository that `publish` commits to: a URL, or a folder relative to the manifest'),
  oci: cli(
    filled(),
    'registry and path that `publish` pushes the folder to as an artifact instead of a commit: `REGISTRY/PATH` or `REGISTRY/PATH:TAG`',
  ),
  branch: cli(filled(), 'branch of the repository; created if it does not exist', 'the default branch'),
  path: cli(
    filled(),
    'folder of the application in the repository; `.` is the root',
    '`environments/ENVIRONMENT/NAME`',
  ),
  layout: cli(
    word(['plain', 'single-file', 'kustomize']),
    'one file per object, one file for all objects, or a base with an overlay per environment',
    '`plain`',
  ),
  pullRequest: cli(pullRequest, 'push to a branch `devctl/ENVIRONMENT/NAME` and open a pull request', '`false`'),
  createNamespace: cli(flag(), 'publish the Namespace too, with the Pod Security level that the Pods need', '`false`'),
  syncWaves: cli(
    flag(),
    'Argo CD sync waves for services that wait until another one is healthy or has completed',
    '`false`',
  ),
  secrets: cli(secrets, 'which values are secret, and their source (docs/gitops/repository.md)'),
})
