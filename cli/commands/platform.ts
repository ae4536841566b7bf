import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { dnsLabel, dnsName, registryPath } from '../../operations/project/checks.ts'
import { command } from '../command.ts'
import { duration } from '../options/duration.ts'
import { choice, flag, list, optionalText, text } from '../options/option.ts'

const context = text('--context <context>', 'context of the kubeconfig, with the rights of a cluster administrator')

export const platform = command({
  name: 'platform',
  summary: 'Install the platform in a cluster, and run it',
  description:
    'The platform is a small server beside the API server of a cluster. It adds logins, namespaces that people make themselves, and their limits. It has no database: all that it knows is in objects of Kubernetes.',
  options: {},
  async run() {
    throw new UsageError('`devctl platform` needs a subcommand', {
      hint: 'add `install`, `status`, `invite`, `admin`, `images` or `uninstall`: `devctl platform install --help`',
    })
  },
})

export const platformInstall = command({
  name: 'platform install',
  summary: 'Install the platform in a cluster, or upgrade it',
  description: `Applies the objects of the platform and waits until its server answers. The same command again is an upgrade: it keeps what options have said that are not named again, and what an administrator has written into the settings. At the first time it prints the command by which the first administrator logs in, which works once, within an hour.

People log in by a provider (\`--oidc\`, \`--github\`), where the platform is registered as a client that sends people back to https://platform.DOMAIN/login/oidc/callback or …/login/github/callback. Without a provider, \`devctl platform invite\` lets people in.

The domain needs a DNS record \`*.DOMAIN\` to the ingress controller of the cluster.`,
  options: {
    context,
    domain: text('--domain <domain>', 'the platform is `platform.DOMAIN`, and environments get their hosts under it', {
      check: dnsName,
    }),
    tlsSecret: text(
      '--tls-secret <name>',
      "TLS secret in the namespace `devctl-platform` (default: the ingress controller's own certificate)",
      { check: dnsLabel },
    ),
    certManager: text(
      '--cert-manager <issuer>',
      'ClusterIssuer of cert-manager that issues the certificate, by DNS-01',
      {
        check: dnsName,
      },
    ),
    ownCa: flag(
      '--own-ca',
      'create a certificate authority and the certificate; `context use` compares its fingerprint and remembers it',
    ),
    ingressClass: text('--ingress-class <class>', "ingress class (default: the cluster's)", { check: dnsLabel }),
    imageRegistry: text('--image-registry <host/path>', 'registry with the images of this version', {
      check: registryPath,
    }),
    registry: text('--registry <host[/path]>', 'registry of the images that people build; `-` is none', {
      check: registryOrNone,
    }),
    registryTokens: flag(
      '--registry-tokens',
      'the registry trusts tokens of the platform: members of a namespace log in to it through the platform',
    ),
    bundledRegistry: flag(
      '--bundled-registry',
      'install a registry: `images.DOMAIN`; the nodes have to trust its certificate',
    ),
    registrySize: text('--registry-size <quantity>', 'disk of that registry (default: 50Gi)', { check: diskSize }),
    builders: text('--builders <number>', 'number of builders to install: BuildKit, each with a disk; 0 is none', {
      check: number,
    }),
    builderNetworks: text(
      '--builder-networks <cidr,...>',
      'networks of the cluster that builds reach by HTTPS; needed if the ingress controller is not found',
    ),
    builderSize: text('--builder-size <quantity>', 'disk of each builder (default: 50Gi)', { check: diskSize }),
    kubernetesServer: text(
      '--kubernetes-server <url>',
      'address of the API server for people (default: that of the context)',
    ),
    clusterNetworks: text(
      '--cluster-networks <cidr,...>',
      'networks that nothing in a namespace reaches (default: those of the Pods, Services, nodes and API server that there are)',
    ),
    trustedProxies: text(
      '--trusted-proxies <cidr,...>',
      'addresses of the ingress controller, whose `X-Forwarded-For` the server believes; `-` removes them (default: none)',
    ),
    replicas: text('--replicas <number>', 'Pods of the server (default: 1)', { check: atLeastOne }),
    oidc: text('--oidc <issuer>', 'OpenID Connect provider by which people log in; `-` removes it'),
    oidcClientId: text('--oidc-client-id <id>', 'the platform as it is registered there'),
    oidcClientSecretFile: text('--oidc-client-secret-file <file>', 'file with the client secret', {
      completes: 'file',
    }),
    oidcName: text('--oidc-name <name>', 'what people know the provider by (default: its host)'),
    oidcAllow: list('--oidc-allow <claim=value>', 'who may log in: `groups=backend`; one of several has to fit'),
    github: optionalText(
      '--github [url]',
      'GitHub, or a GitHub Enterprise Server, by which people log in; `-` removes it',
    ),
    githubClientId: text('--github-client-id <id>', 'the OAuth app of the platform'),
    githubClientSecretFile: text('--github-client-secret-file <file>', 'file with its client secret', {
      completes: 'file',
    }),
    githubAllow: list('--github-allow <organisation[/team]>', 'who may log in; one of several has to fit'),
    ci: list(
      '--ci <system,rule>',
      'jobs of a CI system that get a token: `github,repository=123456,prefix=shop-`; may be repeated; `-` removes all',
    ),
    forge: list(
      '--forge <kind=url>',
      'server of repositories that may have webhooks: `gitea=https://git.example.com`; may be repeated; `-` removes all',
    ),
    caFile: text(
      '--ca-file <file>',
      'certificates (PEM) of authorities that the server trusts, besides the public ones',
      {
        completes: 'file',
      },
    ),
    print: flag('--print', 'print the objects as YAML instead of applying them, for GitOps; without Secrets'),
    onlySecrets: flag('--only-secrets', 'create only the Secrets that `--print` leaves out, with their namespaces'),
    timeout: duration('--timeout <duration>', 'limit for the whole command (default: 5m)'),
  },
  examples: [
    {
      line: 'devctl platform install --domain dev.example.com --image-registry registry.example.com/devctl',
      does: 'install, with an image that was built from this repository',
    },
    {
      line: 'devctl platform install … --github --github-client-id ID --github-client-secret-file FILE',
      does: 'people log in with their account at GitHub',
    },
  ],
  async run(context, _words, values) {
    const { runInstall } = await import('../run/platform.ts')
    return runInstall(context, values)
  },
})

export const platformInvite = command({
  name: 'platform invite',
  summary: 'Let somebody log in who has no other login',
  description: 'Prints a command that logs in a person by this name. It works once, within an hour.',
  words: [{ name: '<name>', description: 'name of the person' }],
  options: { context },
  async run(context, [name], values) {
    const { runInvite } = await import('../run/platform.ts')
    return runInvite(context, name!, values)
  },
})

export const platformAdmin = command({
  name: 'platform admin',
  summary: 'Make somebody an administrator of the platform',
  description:
    'Makes somebody who has logged in an administrator. Works as long as you administer the cluster, also when no administrator of the platform is left.',
  words: [
    { name: '<action>', description: 'what to do', choices: ['add'] },
    { name: '<user>', description: 'their name, or their id' },
  ],
  options: { context },
  examples: [{ line: 'devctl platform admin add ann', does: 'make ann an administrator' }],
  async run(context, [_action, who], values) {
    const { runAdminAdd } = await import('../run/platform.ts')
    return runAdminAdd(context, who!, values)
  },
})

const timeout = duration('--timeout <duration>', 'limit for the whole command (default: 5m)')

export const platformStatus = command({
  name: 'platform status',
  summary: 'Print the status of the platform',
  description: `Prints the status of the platform of a cluster, with the rights of a cluster administrator: replicas and which one leads, whether its address answers from here, certificate, ways to log in, users, namespaces, runs, builders and registry, and problems. The exit status is 1 if there is a problem.`,
  options: {
    context,
    output: choice('-o, --output <format>', 'output format (default: a table)', ['json']),
    timeout,
  },
  async run(context, _words, values) {
    const { runStatus } = await import('../run/platform-status.ts')
    return runStatus(context, values)
  },
})

export const platformImages = command({
  name: 'platform images',
  summary: 'List the images of the platform, and how to copy them to a registry',
  description: `Lists the images of the platform that is installed with the digests that they have now. With \`--image-registry\`, prints the commands that copy them to another registry, for clusters that reach no other one.`,
  options: {
    context,
    from: text('--from <host/path>', 'images of this version in this registry, instead of those that are installed', {
      check: registryPath,
    }),
    imageRegistry: text('--image-registry <host/path>', 'registry to copy them to', { check: registryPath }),
    output: choice('-o, --output <format>', 'output format (default: a table, or commands)', ['json']),
    timeout,
  },
  examples: [
    {
      line: 'devctl platform images --from r.example.com/devctl --image-registry internal.example/devctl',
      does: 'before an installation without access to the first registry',
    },
  ],
  async run(context, _words, values) {
    const { runImages } = await import('../run/platform-images.ts')
    return runImages(context, values)
  },
})

export const platformUninstall = command({
  name: 'platform uninstall',
  summary: 'Remove the platform from a cluster',
  description: `Deletes the platform, its users and the namespaces that it has made, with everything in them. With \`--keep-data\` only the server goes.`,
  options: {
    context,
    keepData: flag('--keep-data', 'keep users and namespaces'),
    yes: flag('-y, --yes', 'do not ask'),
    timeout: duration('--timeout <duration>', 'limit for the whole command (default: 5m)'),
  },
  async run(context, _words, values) {
    const { runUninstall } = await import('../run/platform.ts')
    return runUninstall(context, values)
  },
})

function number(value: string, option: string): void {
  if (/^\d{1,2}$/.test(value)) return
  throw new UsageError(`\`${option}\` is \`${value}\``, { hint: 'write a number from 0 to 99' })
}

function diskSize(value: string, option: string): void {
  if (/^[1-9]\d{0,5}[MGT]i$/.test(value)) return
  throw new UsageError(`\`${option}\` is \`${value}\``, { hint: 'write a size such as `50Gi`' })
}

function registryOrNone(value: string, option: string): void {
  if (value !== '-') registryPath(value, option)
}

function atLeastOne(value: string, option: string): void {
  if (/^[1-9]\d?$/.test(value)) return
  throw new UsageError(`\`${option}\` is \`${value}\``, { hint: 'write a number from 1 to 99' })
}
