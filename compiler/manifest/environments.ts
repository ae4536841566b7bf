import { readTls } from '../compose/read/network/hosts.ts'
import { entries } from '../compose/read/tree-values.ts'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { SecretRules, SecretSource } from '../options.ts'
import type { ModelPath } from '../schema/model-path.ts'
import { type Entry, entry, get, type Tree } from '../text/tree.ts'
import { parseImageReference } from '../values/images/image-reference.ts'
import { parseOciReference } from '../values/images/oci-reference.ts'
import { failed, type Parsed, parsed } from '../values/parsed.ts'
import { FORGE_KINDS, parseBranchName, parseRepositoryFolder } from '../values/repository-names.ts'
import { present } from './build.ts'
import type { ManifestEnvironment, PublishTarget, PullRequestRules } from './manifest.ts'
import { known, parseScalar, type Reading, readFlag, readImage, readPairs, texts } from './values.ts'

const routing = diagnostic({
  code: 'manifest/routes',
  severity: 'error',
  explain: `The route settings of an environment contradict each other. HTTPRoutes need a Gateway, which has its own class and certificate; Ingresses have no Gateway.

\`\`\`yaml
environments:
  staging:
    routes: gateway
    gateway: infra/public
  production:
    ingressClass: nginx
    tlsSecret: wildcard
\`\`\``,
  text: (p: { message: string; hint: string }) => p,
})

const incomplete = diagnostic({
  code: 'manifest/secrets',
  severity: 'error',
  explain: `The secrets backend of an environment needs another setting. \`external\` writes ExternalSecrets, which need the name of the store with the values; \`sealed\` encrypts the values for one cluster, for which it needs the certificate of the cluster.

\`\`\`yaml
environments:
  staging:
    secrets: {backend: external, store: vault}
  production:
    secrets: {backend: sealed, certificate: deploy/production.pem}
\`\`\``,
  text: (p: { backend: string; needed: 'store' | 'certificate' }) => ({
    message: `\`backend: ${p.backend}\` needs a \`${p.needed}\``,
    hint:
      p.needed === 'store'
        ? 'add `store: NAME`, the SecretStore with the values (and `storeKind` for a ClusterSecretStore)'
        : 'add `certificate: FILE`, the output of `kubeseal --fetch-cert`',
  }),
})

const destination = diagnostic({
  code: 'manifest/destination',
  severity: 'error',
  explain: `An environment is published to a git repository or to a registry. With \`oci\` the folder is pushed to a registry as an artifact, which has no branch, no other folders and no pull requests.

\`\`\`yaml
environments:
  staging:
    oci: registry.example.com/team/shop
  production:
    repository: git@github.com:acme/deploy.git
    pullRequest: true
\`\`\``,
  text: ({ field }: { readonly field: string }) => ({
    message: `\`${field}\` cannot be combined with \`oci\``,
    hint: 'remove one of the two: the environment is published to a registry or to a repository',
  }),
})

/**
 * Reads `environments`, by name. The variables of an environment apply to the Compose files, but not to values in the
 * manifest.
 */
export function readEnvironments(tree: Tree | undefined, reading: Reading): ReadonlyMap<string, ManifestEnvironment> {
  return new Map([...entries(tree)].map(([key, at]) => [key, readEnvironment(key, at, reading)]))
}

function readEnvironment(key: string, { key: span, value }: Entry, reading: Reading): ManifestEnvironment {
  const at = (field: string): ModelPath => ['environments', key, field]
  const text = (field: string) => known(value, field)
  const profiles = get(value, 'profiles')
  const routes = readRoutes(value, reading)
  const registry = readRegistry(value, at('registry'), reading)
  const tls = readTls(get(value, 'tls'), reading.reporter)
  const fields = {
    name: text('name'),
    namespace: text('namespace'),
    context: text('context'),
    domain: text('domain'),
    gateway: text('gateway'),
    ingressClass: text('ingressClass'),
    tlsSecret: text('tlsSecret'),
    shellImage: readImage(get(value, 'shellImage'), at('shellImage'), reading),
    kubectlImage: readImage(get(value, 'kubectlImage'), at('kubectlImage'), reading),
  }
  return {
    key,
    span,
    ...present({ ...fields, registry }),
    compose: texts(get(value, 'compose')),
    ...(profiles && { profiles: texts(profiles) }),
    variables: readPairs(get(value, 'variables'), reading),
    envFiles: texts(get(value, 'envFiles')),
    ...(routes && { routes }),
    ...(tls && { tls }),
    routeAnnotations: readPairs(get(value, 'routeAnnotations'), reading),
    ...(text('policy')?.value === 'restricted' && { policy: 'restricted' }),
    images: readImages(get(value, 'images'), at('images'), reading),
    publish: readPublish(value, at, reading),
    secrets: readSecrets(entry(value, 'secrets'), reading),
  }
}

function readRoutes(tree: Tree, { reporter }: Reading): ManifestEnvironment['routes'] {
  const said = entry(tree, 'routes')
  const gateway = entry(tree, 'gateway')
  const word = known(tree, 'routes')?.value
  if (said && word === undefined) return undefined
  const routes = word ?? (gateway ? 'gateway' : undefined)
  if (routes === 'gateway' && said && !gateway) {
    const message = '`routes: gateway` needs a `gateway`'
    reporter.report(routing, said.value.span, { message, hint: 'add `gateway: NAMESPACE/NAME`' })
  }
  if (routes === 'ingress' && gateway) {
    const message = '`gateway` has no effect on Ingresses'
    reporter.report(routing, gateway.key, { message, hint: 'remove it, or write `routes: gateway`' })
  }
  for (const field of ['ingressClass', 'tlsSecret', 'tls']) {
    const found = routes === 'gateway' ? entry(tree, field) : undefined
    if (!found) continue
    const message = `\`${field}\` has no effect on HTTPRoutes`
    reporter.report(routing, found.key, { message, hint: 'remove it: the Gateway has its own' })
  }
  return routes === 'gateway' || routes === 'ingress' ? routes : undefined
}

/** Reads the `registry` of a mapping. Reports an invalid registry. */
export const readRegistry = (tree: Tree, path: ModelPath, reading: Reading) =>
  parseScalar(get(tree, 'registry'), path, parseRegistry, reading)

function parseRegistry(text: string) {
  const reference = parseImageReference(`${text}/image`)
  if (reference.ok && reference.value.tag === undefined && reference.value.digest === undefined) return parsed(text)
  return failed(
    'it is no registry',
    'write a host and a path in lower case, without scheme and tag, such as `registry.example.com/team`',
  )
}

function readImages(tree: Tree | undefined, path: ModelPath, reading: Reading): ManifestEnvironment['images'] {
  return [...entries(tree)].flatMap(([name, { key, value }]) => {
    const image = readImage(value, [...path, name], reading)
    return image ? [{ name, value: image.value, span: image.span, key }] : []
  })
}

function readPublish(tree: Tree, at: (field: string) => ModelPath, reading: Reading): PublishTarget {
  const layout = known(tree, 'layout')?.value
  const pullRequest = readPullRequest(get(tree, 'pullRequest'), at('pullRequest'), reading)
  const isSet = (field: string) => readFlag(get(tree, field), at(field), reading)?.value ?? false
  const filled = (field: string, parse: (text: string) => Parsed<string>) =>
    known(tree, field) && parseScalar(get(tree, field), at(field), parse, reading)
  const oci = parseScalar(get(tree, 'oci'), at('oci'), parseArtifact, reading)
  if (oci) refuseBesides(tree, reading)
  return {
    ...present({
      oci,
      repository: known(tree, 'repository'),
      branch: filled('branch', parseBranchName),
      path: filled('path', parseRepositoryFolder),
    }),
    layout: layout === 'single-file' || layout === 'kustomize' ? layout : 'plain',
    ...(pullRequest && { pullRequest }),
    createNamespace: isSet('createNamespace'),
    syncWaves: isSet('syncWaves'),
  }
}

/** Checks the address of an artifact; returns it as written. */
function parseArtifact(text: string) {
  const read = parseOciReference(text)
  return read.ok ? parsed(text) : read
}

/** Reports settings that apply only to git repositories if they are combined with an artifact. */
function refuseBesides(tree: Tree, { reporter }: Reading): void {
  for (const field of ['repository', 'branch', 'path', 'pullRequest']) {
    const found = entry(tree, field)
    if (found) reporter.report(destination, found.key, { field })
  }
  const layout = known(tree, 'layout')
  if (layout?.value === 'kustomize') reporter.report(destination, layout.span, { field: 'layout: kustomize' })
}

/**
 * Reads `pullRequest`: `true`, or a mapping with more settings. Returns undefined for `false` and if the key is absent.
 */
function readPullRequest(tree: Tree | undefined, path: ModelPath, reading: Reading): PullRequestRules | undefined {
  if (tree?.kind !== 'map' && !readFlag(tree, path, reading)?.value) return undefined
  const named = known(tree, 'forge')?.value
  const forge = FORGE_KINDS.find(kind => kind === named)
  return {
    labels: texts(get(tree, 'labels')),
    reviewers: texts(get(tree, 'reviewers')),
    draft: readFlag(get(tree, 'draft'), [...path, 'draft'], reading)?.value ?? false,
    ...(forge && { forge }),
  }
}

function readSecrets(at: Entry | undefined, { reporter }: Reading): SecretRules {
  const tree = at?.value
  const backend = known(tree, 'backend')?.value
  const needed = backend === 'external' ? 'store' : backend === 'sealed' ? 'certificate' : undefined
  if (at && needed && !get(tree, needed)) reporter.report(incomplete, at.key, { backend: backend!, needed })
  const values = new Map<string, SecretSource>()
  for (const [path, { key: span, value }] of entries(tree, 'values')) {
    const secret = known(value, 'secret')
    const key = known(value, 'key')
    const there = present({ remote: known(value, 'remote'), property: known(value, 'property') })
    if (secret && key) values.set(path, { secret, key, ...there, span })
  }
  return {
    backend: backend === 'external' || backend === 'sealed' || backend === 'sops' ? backend : 'reference',
    ...present({ store: known(tree, 'store'), certificate: known(tree, 'certificate') }),
    storeKind: known(tree, 'storeKind')?.value === 'ClusterSecretStore' ? 'ClusterSecretStore' : 'SecretStore',
    age: texts(get(tree, 'age')),
    values,
    public: texts(get(tree, 'public')),
  }
}
