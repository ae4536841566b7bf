import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { parseImageReference } from '../../compiler/values/image-reference.ts'
import { dnsLabel, dnsName, registryPath } from '../../operations/project/checks.ts'
import type { Word } from '../command.ts'
import { choice, flag, list, type Option, text, type Values } from './option.ts'

/** The word of commands that compile a part of an application. */
export const someServices: Word = {
  name: '[service...]',
  description: 'only these services and what they depend on (default: all)',
  completes: 'service',
}

/** What to load. */
export const loading = {
  file: list(
    '-f, --file <path>',
    'a manifest or a Compose file; Compose files may be repeated, later ones are merged over earlier ones; `-` is standard input',
    {
      completes: 'file',
    },
  ),
  projectDirectory: text('--project-directory <folder>', 'resolve relative paths of the files against this folder', {
    completes: 'folder',
  }),
  envFile: list('--env-file <path>', 'read variables from this file in place of `.env`; may be repeated', {
    completes: 'file',
  }),
  profile: list('--profile <name>', 'enable the services of this profile; may be repeated'),
  allowOutside: flag('--allow-outside', 'let the files name files outside of the project, which are read'),
  environment: text('--environment <name>', 'take what the manifest says about this environment'),
}

/** What to make of it in the cluster. */
export const planning = {
  name: text(
    '--name <name>',
    'name of the environment (default: `name` of the file, else the repository, else the folder)',
  ),
  namespace: text(
    '-n, --namespace <namespace>',
    'namespace of the objects (default: that of the environment, $DEVCTL_NAMESPACE, that of the manifest, else none is written)',
    {
      check: dnsLabel,
    },
  ),
  domain: text('--domain <domain>', 'domain under which public routes get their hosts', { check: dnsName }),
  routes: choice('--routes <kind>', 'what public routes become', ['ingress', 'gateway']),
  gateway: text('--gateway <namespace/name>', 'the Gateway that HTTPRoutes attach to; implies `--routes gateway`', {
    check: gatewayReference,
  }),
  ingressClass: text('--ingress-class <name>', 'class of the Ingresses', { check: dnsName }),
  tlsSecret: text('--tls-secret <name>', 'Secret with the certificate of the Ingresses', { check: dnsName }),
  policy: choice('--policy <level>', 'make every Pod meet this Pod Security level, and refuse what cannot', [
    'restricted',
  ]),
  image: imagePairs('--image <service=reference>', 'run this image for a service; may be repeated'),
  imagesFile: text('--images-file <path>', 'take images from the metadata that a build wrote (JSON)', {
    completes: 'file',
  }),
  registry: text('--registry <host/path>', 'registry of the images of services with `build`', { check: registryPath }),
  tag: text('--tag <tag>', 'tag of the images of services with `build` (default: a hash of what the build reads)', {
    check: imageTag,
  }),
  startOrder: choice(
    '--start-order <how>',
    'who keeps `depends_on`: waits inside the manifests, or the client that applies them',
    ['manifest', 'client'],
    'manifest',
  ),
  includeSecrets: flag('--include-secrets', 'write Secrets with their values'),
  strict: flag('--strict', 'treat fields that are lost or approximated as errors'),
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

function imageTag(value: string, option: string): void {
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
  return { flags, description, parse }
}
