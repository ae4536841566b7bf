import type { RegistryCredentials, RegistryLogin } from '../../adapters/registry/docker-config.ts'
import { HUB_KEY, registryOf } from '../../adapters/registry/registry.ts'
import type { Plan, SecretPlan, WorkloadPlan } from '../../compiler/plan/plan.ts'
import { type Manifest, templateOf } from '../../constructs/manifest.ts'
import { serviceOf } from '../../environment/plan/desired-state.ts'

/** Plan with the pull Secret that its images need. */
export interface WithCredentials {
  readonly plan: Plan
  /** Notes about registries without credentials. */
  readonly notes: readonly string[]
}

/**
 * Returns the registries of the images in each service's Pods, including the images of init containers that wait or
 * fill volumes.
 */
export function registriesIn(manifests: readonly Manifest[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>()
  for (const { object } of manifests) {
    const service = serviceOf(object)
    const images = imagesOf(object)
    if (service === undefined || images.length === 0) continue
    found.set(service, new Set([...(found.get(service) ?? []), ...images.map(registryOf)]))
  }
  return found
}

/**
 * Adds a Secret with the credentials from the Docker configuration for the registries of the plan's images, and
 * attaches it to the Pods that need it. Without credentials the plan stays unchanged. `noted` contains the registries
 * that notes are about; by default, all.
 */
export function addCredentials(
  plan: Plan,
  registries: ReturnType<typeof registriesIn>,
  credentials: ReadonlyMap<string, RegistryCredentials>,
  noted: Pick<ReadonlySet<string>, 'has'> = credentials,
): WithCredentials {
  const logins = new Map<string, RegistryLogin>()
  for (const [registry, found] of credentials) if (found.kind === 'login') logins.set(registry, found)
  const notes = notesOf([...credentials].filter(([registry]) => noted.has(registry)))
  if (logins.size === 0) return { plan, notes }
  const secret = pullSecret(plan, pullSecretContent(logins))
  const needsIt = ({ service }: WorkloadPlan) => [...(registries.get(service) ?? [])].some(one => logins.has(one))
  const workloads = plan.workloads.map(workload => (needsIt(workload) ? pulling(workload, secret.name) : workload))
  return { plan: { ...plan, workloads, secrets: [...plan.secrets, secret] }, notes }
}

function pulling<W extends WorkloadPlan>(workload: W, secret: string): W {
  return { ...workload, pod: { ...workload.pod, pullSecrets: [...(workload.pod.pullSecrets ?? []), secret] } }
}

function pullSecret({ environment, secrets }: Plan, content: string): SecretPlan {
  // A secret of the project may already have this name.
  const taken = new Set(secrets.map(({ name }) => name))
  let name = `${environment.name}-registry`
  while (taken.has(name)) name += '-pull'
  return {
    name,
    source: 'the Docker configuration',
    type: PULL_SECRET_TYPE,
    data: { [PULL_SECRET_KEY]: new TextEncoder().encode(content) },
  }
}

/**
 * Type of a Secret with registry credentials. `PULL_SECRET_KEY` is the only key of such a Secret
 * (https://kubernetes.io/docs/concepts/configuration/secret/#docker-config-secrets).
 */
const PULL_SECRET_TYPE = 'kubernetes.io/dockerconfigjson'
const PULL_SECRET_KEY = '.dockerconfigjson'

/** Returns the content of a pull Secret, which does not depend on the order of the logins. */
export function pullSecretContent(logins: ReadonlyMap<string, RegistryLogin>): string {
  const auths = [...logins]
    .map(([registry, { username, password }]) => {
      const auth = Buffer.from(`${username}:${password}`).toString('base64')
      return [registry === 'docker.io' ? HUB_KEY : registry, { username, password, auth }] as const
    })
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify({ auths: Object.fromEntries(auths) })
}

function notesOf(credentials: readonly (readonly [string, RegistryCredentials])[]): readonly string[] {
  const of = (kind: RegistryCredentials['kind']) =>
    credentials.flatMap(([registry, found]) => (found.kind === kind ? registry : [])).sort()
  const [none, token] = [of('none'), of('token')]
  return [
    ...(none.length > 0 ? [`the Docker configuration has no credentials for ${none.join(', ')}: pulled without`] : []),
    ...(token.length > 0
      ? [
          `the Docker configuration has an identity token for ${token.join(', ')}, which Kubernetes cannot use: log in with a password or an access token`,
        ]
      : []),
  ]
}

interface Containers {
  readonly containers?: readonly { readonly image?: string }[]
  readonly initContainers?: readonly { readonly image?: string }[]
}

function imagesOf(object: Manifest['object']): readonly string[] {
  const { containers = [], initContainers = [] } = templateOf<{ readonly spec?: Containers }>(object)?.spec ?? {}
  return [...initContainers, ...containers].flatMap(({ image }) => image ?? [])
}
