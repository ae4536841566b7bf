import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import { dnsName, registryPath } from '../../../project/checks.ts'
import { command } from '../../command.ts'
import { duration } from '../../options/duration.ts'
import { aliased, brief, common, flag, list, optionalText, text, type Values } from '../../options/option.ts'
import { output } from '../../options/output.ts'
import { tolerateFailures } from '../../options/tolerate-failures.ts'

const { timeout } = common('waiting', {
  timeout: duration('--timeout <duration>', 'limit for the whole command (default: 5m)'),
})
const { context } = common('target', {
  context: text('--context <context>', 'context of the kubeconfig, with the rights of a cluster administrator', {
    completes: 'context',
  }),
})

export const platform = command({
  name: 'platform',
  group: 'Platform',
  summary: 'Install the platform in a cluster, and run it',
  description:
    'The platform is a small server next to the API server of a cluster. It adds logins, namespaces that people create themselves, and limits for them. It has no database: its data is in Kubernetes objects.',
  options: {},
  async run() {
    throw new UsageError('`devctl platform` needs a subcommand', {
      hint: 'add `install`, `status`, `invite`, `admin`, `images` or `uninstall`: `devctl platform install --help`',
    })
  },
})

const baseRegistry = text(
  '--base-registry <host/path>',
  'registry with copies of the base images, such as `HOST/PATH/library/node:22-alpine` (default: their own)',
  { check: registryPath },
)

const installOptions = {
  context,
  domain: brief(
    text('--domain <domain>', 'the platform is `platform.DOMAIN`, and environments get their hosts under it', {
      check: dnsName,
    }),
    'domain of the platform and of the environments',
  ),
  tlsSecret: text(
    '--tls-secret <name>',
    "TLS secret in the namespace `devctl-platform`; `-` removes it (default: the ingress controller's own certificate)",
    {
      check: (value, option) => {
        if (value !== '-') dnsName(value, option)
      },
    },
  ),
  certManager: brief(
    text('--cert-manager <issuer>', 'ClusterIssuer of cert-manager that issues the certificate, by DNS-01', {
      check: dnsName,
    }),
    'ClusterIssuer of cert-manager for the certificate',
  ),
  ownCa: flag(
    '--own-ca',
    'create a certificate authority and the certificate; `context use` compares its fingerprint and remembers it',
  ),
  ingressClass: text('--ingress-class <class>', "ingress class (default: the cluster's)", { check: dnsName }),
  imageRegistry: text(
    '--image-registry <host/path>',
    'registry of all images of the platform; images of this version that it lacks are built and pushed',
    { check: registryPath },
  ),
  baseRegistry,
  registry: text('--registry <host[/path]>', 'registry of the images that people build; `-` for none', {
    check: registryOrNone,
  }),
  registryTokens: brief(
    flag(
      '--registry-tokens',
      'the registry trusts tokens of the platform: members of a namespace log in to it through the platform',
    ),
    'the registry trusts tokens of the platform',
  ),
  bundledRegistry: flag(
    '--bundled-registry',
    'install a registry: `images.DOMAIN`; the nodes have to trust its certificate',
  ),
  registrySize: text('--registry-size <quantity>', 'disk of that registry (default: 50Gi)', { check: diskSize }),
  builders: text('--builders <number>', 'number of builders to install: BuildKit, each with a disk; 0 for none', {
    check: number,
  }),
  untrustedBuilders: brief(
    text(
      '--untrusted-builders <number>',
      'number of builders to install for code of forks, which builds nowhere else; they keep no cache; 0 for none',
      { check: number },
    ),
    'number of builders to install for code of forks',
  ),
  builderNetworks: text(
    '--builder-networks <cidr,...>',
    'networks of the cluster that builds can reach over HTTPS; needed if the ingress controller is not found',
  ),
  builderSize: text('--builder-size <quantity>', 'disk of each builder (default: 50Gi)', { check: diskSize }),
  kubernetesServer: text(
    '--kubernetes-server <url>',
    'address of the API server for people (default: that of the context)',
  ),
  clusterNetworks: text(
    '--cluster-networks <cidr,...>',
    'networks that nothing in a namespace can reach; `-` finds them again (default: those of the existing Pods, Services, nodes and API server)',
  ),
  privateNetworks: brief(
    text(
      '--private-networks <cidr,...>',
      'private networks outside of the cluster that Pods of namespaces, runs and builds can reach, besides public addresses; `-` closes them (default: none)',
    ),
    'private networks outside of the cluster that Pods can reach',
  ),
  trustedProxies: brief(
    text(
      '--trusted-proxies <cidr,...>',
      'addresses of the ingress controller, whose `X-Forwarded-For` the server trusts; `-` removes them (default: none)',
    ),
    'addresses of the ingress controller',
  ),
  replicas: text('--replicas <number>', 'Pods of the server (default: 1)', { check: atLeastOne }),
  oidc: text('--oidc <issuer>', 'OpenID Connect provider with which people log in; `-` removes it'),
  oidcClientId: text('--oidc-client-id <id>', 'client id of the platform at the provider'),
  oidcClientSecretFile: text('--oidc-client-secret-file <file>', 'file with the client secret', {
    completes: 'file',
  }),
  oidcName: text('--oidc-name <name>', 'name of the provider that people see (default: its host)'),
  oidcAllow: list(
    '--oidc-allow <claim=value>',
    'who may log in: `groups=backend`; may be repeated, and one has to match',
  ),
  github: brief(
    {
      ...optionalText(
        '--github [url]',
        'GitHub, or a GitHub Enterprise Server, with which people log in; `-` removes it',
      ),
      short: 'GitHub, or a GitHub Enterprise Server, for logins',
    },
    'GitHub, or a GitHub Enterprise Server, for logins',
  ),
  githubClientId: text('--github-client-id <id>', 'client id of the OAuth app of the platform'),
  githubClientSecretFile: text('--github-client-secret-file <file>', 'file with its client secret', {
    completes: 'file',
  }),
  githubAllow: list('--github-allow <organisation[/team]>', 'who may log in; may be repeated, and one has to match'),
  ci: brief(
    list(
      '--ci <system,rule>',
      'jobs of a CI system that get a token: `github,repository=123456,prefix=shop-`; may be repeated; `-` removes all',
    ),
    'jobs of a CI system that get a token',
  ),
  forge: brief(
    list(
      '--forge <kind=url>',
      'server of repositories that may have webhooks: `gitea=https://git.example.com`; may be repeated; `-` removes all',
    ),
    'server of repositories that may have webhooks',
  ),
  ca: aliased(
    brief(
      text(
        '--ca <file>',
        'certificates (PEM) of private authorities that the server, runs, builders and command lines trust, besides the public ones; `-` removes them',
        { completes: 'file' },
      ),
      'certificates of private authorities that all parts trust',
    ),
    '--ca-file',
  ),
  dryRun: flag('--dry-run', 'print what would change, and change nothing'),
  yes: flag('-y, --yes', 'do not ask'),
  print: brief(
    flag('--print', 'print the objects as YAML instead of applying them, for GitOps; without Secrets'),
    'print the objects as YAML instead of applying them',
  ),
  onlySecrets: brief(
    flag('--only-secrets', 'create only the Secrets that `--print` leaves out, with their namespaces'),
    'create only the Secrets that `--print` leaves out',
  ),
  timeout: duration('--timeout <duration>', 'limit for the whole command (default: 30m)'),
  tolerateFailures,
}

/** Options of `platform install`. */
export type PlatformInstallValues = Values<typeof installOptions>

export const platformInstall = command({
  name: 'platform install',
  summary: 'Install the platform in a cluster, or upgrade it',
  description: `Applies the objects of the platform and waits until its server answers. On a terminal, it shows what changes, and asks. Run it again to upgrade: options that you leave out keep their values, and so does what an administrator has written into the settings. The first time, it prints the command with which the first administrator logs in; that command works once, within an hour.

If the registry lacks images of this version, they are built with the builder of \`devctl build\` and pushed, which takes a few minutes; on a terminal, it asks before. \`devctl platform images --push\` does this beforehand.

People log in with a provider (\`--oidc\`, \`--github\`). Register the platform there as a client, with the callback https://platform.DOMAIN/login/oidc/callback or …/login/github/callback. Without a provider, \`devctl platform invite\` lets people in.

The domain needs a DNS record \`*.DOMAIN\` to the ingress controller of the cluster.`,
  options: installOptions,
  examples: [
    {
      line: 'devctl platform install --domain dev.example.com --image-registry registry.example.com/devctl',
      does: 'build the images that the registry lacks, and install',
    },
    { line: 'devctl platform install --dry-run', does: 'print what an upgrade would change' },
    {
      line: 'devctl platform install … --github --github-client-id ID --github-client-secret-file FILE',
      does: 'let people log in with their GitHub account',
    },
  ],
  async run(context, _words, values) {
    const { runInstall } = await import('../../run/platform/platform-install.ts')
    return runInstall(context, values)
  },
})

export const platformInvite = command({
  name: 'platform invite',
  summary: 'Invite someone who has no account at a login provider',
  description: 'Prints a command that logs someone in under this name. It works once, within an hour.',
  words: [{ name: '<name>', description: 'name of the person' }],
  options: { context },
  async run(context, [name], values) {
    const { runInvite } = await import('../../run/platform/platform.ts')
    return runInvite(context, name!, values)
  },
})

export const platformAdmin = command({
  name: 'platform admin',
  summary: 'Make someone an administrator of the platform',
  description:
    'Makes someone who has already logged in an administrator. Needs only the rights of a cluster administrator, so it works even if the platform has no administrator left.',
  words: [
    { name: '<action>', description: 'what to do', choices: ['add'] },
    { name: '<user>', description: 'their name, or their id' },
  ],
  options: { context },
  examples: [{ line: 'devctl platform admin add ann', does: 'make ann an administrator' }],
  async run(context, [_action, who], values) {
    const { runAdminAdd } = await import('../../run/platform/platform.ts')
    return runAdminAdd(context, who!, values)
  },
})

const statusOptions = {
  context,
  output: output('text', 'json'),
  timeout,
}

/** Options of `platform status`. */
export type PlatformStatusValues = Values<typeof statusOptions>

export const platformStatus = command({
  name: 'platform status',
  summary: 'Print the status of the platform',
  description: `Prints the status of the platform of a cluster, with the rights of a cluster administrator: replicas and which one leads, whether its address can be reached from this machine, certificate, ways to log in, users, namespaces, runs, other servers that it needs, builders and registry, and problems. The server of the platform checks identity providers, CI systems and forges; the ingress class and the networks of the cluster are checked from this machine. The exit status is 1 if there is a problem.`,
  options: statusOptions,
  async run(context, _words, values) {
    const { runStatus } = await import('../../run/platform/platform-status.ts')
    return runStatus(context, values)
  },
})

const imagesOptions = {
  context,
  push: aliased(
    text('--push <host/path>', 'build the images that this registry lacks, and push them there', {
      check: registryPath,
    }),
    '--image-registry',
  ),
  from: text('--from <host/path>', 'with `--push`, copy the images from this registry instead of building them', {
    check: registryPath,
  }),
  bases: flag('--bases', 'with `--push`, copy the base images instead, under the names for `--base-registry`'),
  rebuild: flag('--rebuild', 'build images that the registry has, too, with current base images and packages'),
  baseRegistry,
  platform: list(
    '--platform <os/arch>',
    "platforms of the nodes, such as `linux/arm64` (default: the builder's); may be repeated",
  ),
  installed: flag('--installed', 'list the images of the installed platform, with their digests'),
  output: output('text', 'json', 'name'),
  timeout: duration('--timeout <duration>', 'limit for the whole command (default: 30m)'),
}

/** Options of `platform images`. */
export type PlatformImagesValues = Values<typeof imagesOptions>

export const platformImages = command({
  name: 'platform images',
  summary: 'List the images of the platform, build them, and push them to a registry',
  description: `Lists the images of this version, and the base images that they are built from. The Dockerfiles, and everything else that they need, come with devctl; their tag is its version.

With \`--push\`, builds them and pushes them to a registry, except those that it has. The builder is that of \`devctl build\`, but never that of a platform. With \`--from\` or \`--bases\`, copies images between registries, with all their platforms and without a builder. The logins are those of the Docker configuration.`,
  options: imagesOptions,
  examples: [
    {
      line: 'devctl platform images --push registry.example.com/devctl',
      does: 'build the images before installing, for example on a machine that reaches the internet',
    },
    {
      line: 'devctl platform images --push registry.example.com/devctl --rebuild',
      does: 'build them again, with the security updates of their base images',
    },
    {
      line: 'devctl platform images --push internal.example/devctl --from registry.example.com/devctl',
      does: 'copy the images to the registry of a closed network',
    },
  ],
  async run(context, _words, values) {
    const { runImages } = await import('../../run/platform/platform-images.ts')
    return runImages(context, values)
  },
})

export const platformUninstall = command({
  name: 'platform uninstall',
  summary: 'Remove the platform from a cluster',
  description: `Deletes the platform, its users and the namespaces that it has created, with everything in them. With \`--keep-data\`, only the server is deleted.`,
  options: {
    context,
    keepData: flag('--keep-data', 'keep users, namespaces, keys and settings'),
    yes: flag('-y, --yes', 'do not ask'),
    timeout,
  },
  async run(context, _words, values) {
    const { runUninstall } = await import('../../run/platform/platform.ts')
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
