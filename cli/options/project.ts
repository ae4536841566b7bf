import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { parseImageReference } from '../../compiler/values/images/image-reference.ts'
import { dnsLabel, dnsName, environmentName, registryPath } from '../../project/checks.ts'
import type { Argument } from '../command.ts'
import { choice, common, flag, list, type Option, text, type Values } from './option.ts'

/** Argument of commands that can be limited to some of the services. */
export const someServices: Argument = {
  name: '[service...]',
  description: 'only these services and their dependencies (default: all)',
  completes: 'service',
}

/** Options that select the files to load. */
export const loading = common('files', {
  file: list(
    '-f, --file <path>',
    'manifest or Compose file, or `-` for standard input; may be repeated to merge Compose files, later ones override earlier ones',
    {
      completes: 'file',
    },
  ),
  projectDirectory: text('--project-directory <folder>', 'resolve relative paths in the files against this folder', {
    completes: 'folder',
  }),
  envFile: list('--env-file <path>', 'read variables from this file instead of `.env`; may be repeated', {
    completes: 'file',
  }),
  profile: list('--profile <name>', 'enable the services of this profile; may be repeated', { completes: 'profile' }),
  allowOutside: flag('--allow-outside', 'allow references to files outside the project, and read them'),
  environment: text('--environment <name>', 'use this environment of the manifest', { completes: 'environment' }),
})

/** Options for compiling the files. */
export const planning = {
  ...common('target', {
    name: text(
      '--name <name>',
      'name of the environment (default: `name` in the file, or the name of the repository or folder)',
      { check: environmentName, completes: 'deployed' },
    ),
    namespace: text(
      '-n, --namespace <namespace>',
      'namespace of the objects (default: from the environment of the manifest, $DEVCTL_NAMESPACE, or the manifest; otherwise none is written)',
      {
        check: dnsLabel,
        completes: 'namespace',
      },
    ),
  }),
  ...common('manifests', {
    domain: text('--domain <domain>', 'domain for the hosts of public routes', { check: dnsName }),
    routes: choice('--routes <kind>', 'kind of objects to create for public routes', ['ingress', 'gateway']),
    gateway: text('--gateway <namespace/name>', 'Gateway that the HTTPRoutes attach to; implies `--routes gateway`', {
      check: gatewayReference,
    }),
    ingressClass: text('--ingress-class <name>', 'IngressClass of the Ingresses', { check: dnsName }),
    tlsSecret: text('--tls-secret <name>', 'Secret with the TLS certificate of the Ingresses', { check: dnsName }),
    policy: choice('--policy <level>', 'make every Pod meet this Pod Security level, and reject services that cannot', [
      'restricted',
    ]),
    image: imagePairs('--image <service=reference>', 'use this image for a service; may be repeated'),
    imagesFile: text('--images-file <path>', 'read images from the metadata file of a build (JSON)', {
      completes: 'file',
    }),
    registry: text('--registry <host/path>', 'registry for the images of services with `build`', {
      check: registryPath,
    }),
    tag: text('--tag <tag>', 'tag for images with `build` and no `image:` (default: a hash of the build inputs)', {
      check: imageTag,
    }),
    startOrder: choice(
      '--start-order <how>',
      'what enforces `depends_on`: the manifests, by init containers, or the client that applies them',
      ['manifest', 'client'],
      'manifest',
    ),
    includeSecrets: flag('--include-secrets', 'write Secrets with their values'),
    strict: flag('--strict', 'report keys that are dropped or approximated as errors'),
  }),
}

export type LoadingValues = Values<typeof loading>
export type PlanningValues = Values<typeof planning>

function gatewayReference(value: string, option: string): void {
  const [namespace, name, ...rest] = value.split('/')
  if (namespace === undefined || name === undefined || rest.length > 0) {
    throw new UsageError(`\`${option}\` is \`${value}\``, {
      hint: 'write it as `NAMESPACE/NAME`, such as `infra/public`',
    })
  }
  dnsLabel(namespace, option)
  dnsName(name, option)
}

/** Throws a UsageError if the value is not a valid image tag. */
export function imageTag(value: string, option: string): void {
  if (/^\w[\w.-]{0,127}$/.test(value)) return
  throw new UsageError(`\`${option}\` is \`${value}\`, which is not a valid image tag`, {
    hint: 'use letters, digits, `_`, `.` and `-`, at most 128, beginning with a letter, digit or `_`',
  })
}

function imagePairs(flags: string, description: string): Option<ReadonlyMap<string, string> | undefined> {
  const parse = (value: string, previous: ReadonlyMap<string, string> | undefined) => {
    const at = value.indexOf('=')
    const reference = value.slice(at + 1)
    if (at < 1 || reference === '') {
      throw new UsageError(`\`--image\` is \`${value}\``, {
        hint: 'write it as `SERVICE=REFERENCE`, such as `web=registry.example.com/web:1.4`',
      })
    }
    const read = parseImageReference(reference)
    if (!read.ok) {
      throw new UsageError(
        `\`--image\` is \`${value}\`: ${read.reason}`,
        read.hint === undefined ? {} : { hint: read.hint },
      )
    }
    return new Map(previous).set(value.slice(0, at), reference)
  }
  return { flags, description, parse, isRepeatable: true, completes: 'image' }
}
