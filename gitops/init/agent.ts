import { controllerAddress } from '../../adapters/git/repository-url.ts'
import { registryOf } from '../../adapters/registry/registry.ts'
import { type AgentTarget, type ArtifactTarget, agentName } from '../agents/agents.ts'
import { argocdApplication, argocdArtifactApplication } from '../agents/argocd.ts'
import { fluxArtifactObjects, fluxObjects } from '../agents/flux.ts'
import type { AgentSettings } from './input.ts'

/** A target whose branch may be unknown until the repository is read. */
export type BranchlessTarget = Omit<AgentTarget, 'branch'>

/** Repository to read, and the name and namespace of the controller's objects. */
type Accessed = Pick<BranchlessTarget, 'repository' | 'controllerNamespace'> & { readonly name: string }

/** Properties of a controller. */
export interface Agent {
  /** Name of the controller for messages. */
  readonly name: string
  /** Usual folder of the controller's objects. */
  readonly folder: string
  readonly objects: (target: AgentTarget, settings: AgentSettings) => string
  /** Describes how to give the controller access to a private repository. */
  readonly access: (target: Accessed) => string
  /** Returns the controller's objects for an artifact, as YAML. */
  readonly artifactObjects: (target: ArtifactTarget, settings: AgentSettings) => string
  readonly artifactAccess: (target: ArtifactTarget) => string
}

export const ARGOCD: Agent = {
  name: 'Argo CD',
  folder: 'argocd',
  objects: argocdApplication,
  access: ({ repository }) =>
    `if the repository is private, once: \`argocd repo add ${controllerAddress(repository)}\` with its credentials`,
  artifactObjects: argocdArtifactApplication,
  artifactAccess: ({ artifact }) =>
    `if the registry is private, once: \`argocd repo add oci://${artifact} --type oci\` with its credentials`,
}

export const FLUX: Agent = {
  name: 'Flux',
  folder: 'flux',
  objects: fluxObjects,
  access: ({ name, repository, controllerNamespace }) => {
    const url = controllerAddress(repository)
    const where = controllerNamespace === undefined ? '' : ` --namespace=${controllerNamespace}`
    const when = /^ssh:/i.test(url) ? 'for ssh' : 'if the repository is private'
    return `${when}, once: \`flux create secret git ${name}-git${where} --url=${url}\` with its credentials, and \`secretRef\` in the file`
  },
  artifactObjects: fluxArtifactObjects,
  artifactAccess: target => {
    const where = target.controllerNamespace === undefined ? '' : ` --namespace=${target.controllerNamespace}`
    const secret = `flux create secret oci ${agentName(target)}-oci${where} --url=${registryOf(target.artifact)}`
    return `if the registry is private, once: \`${secret}\` with its credentials, and \`secretRef\` in the file`
  },
}

/**
 * Returns the message of the commit that lets a controller sync one application. `where` is the folder or artifact to
 * sync, as text.
 */
export function messageOf(
  { name }: Agent,
  { application, environment }: Pick<ArtifactTarget, 'application' | 'environment'>,
  where: string,
): string {
  const words = environment === undefined ? application : `${application}/${environment}`
  const trailers = [
    `Devctl-Application: ${application}`,
    ...(environment === undefined ? [] : [`Devctl-Environment: ${environment}`]),
  ]
  return `gitops(${words}): let ${name} sync ${where}\n\n${ONCE}\n\n${trailers.join('\n')}\n`
}

/**
 * Returns the message of the commit that lets Argo CD sync every published folder, or, with `environment`, the folders
 * of this environment.
 */
export function messageOfAll(environment: string | undefined): string {
  const scope = environment === undefined ? '' : `(${environment})`
  const trailer = environment === undefined ? 'Devctl-Applications: all' : `Devctl-Environment: ${environment}`
  return `gitops${scope}: let Argo CD sync every published folder\n\n${ONCE}\n\n${trailer}\n`
}

const ONCE = 'To be applied to the cluster once. devctl does not change it any more.'

/** Returns the further steps that a controller needs for one application. */
export function toDo(
  agent: Agent,
  target: BranchlessTarget | ArtifactTarget,
  { targetNamespace, decryptionSecret }: Pick<AgentSettings, 'targetNamespace' | 'decryptionSecret'>,
): readonly string[] {
  const namespace = targetNamespace ?? target.namespace
  const needsNamespace = agent === FLUX && !target.createNamespace
  return [
    ...(needsNamespace ? [`the namespace has to be there: \`kubectl create namespace ${namespace}\``] : []),
    'artifact' in target ? agent.artifactAccess(target) : agent.access({ ...target, name: agentName(target) }),
    ...(decryptionSecret === undefined ? [] : [keysOf(target, decryptionSecret)]),
  ]
}

/**
 * Secret from which Flux takes the private keys of SOPS if `--decryption-secret` is not set; the name is from the
 * guides of Flux.
 */
export const SOPS_KEYS = 'sops-age'

/** Describes how to give Flux the private key for files encrypted by SOPS. */
function keysOf(
  { controllerNamespace = 'flux-system' }: Pick<BranchlessTarget, 'controllerNamespace'>,
  secret: string,
): string {
  const where = `--namespace=${controllerNamespace}`
  return `the private key, once, if it is not there: \`kubectl create secret generic ${secret} ${where} --from-file=age.agekey=KEY_FILE\``
}

/** Warning for Argo CD, which accepts no SOPS keys. */
export const NOT_DECRYPTED = {
  text: 'Argo CD does not decrypt what SOPS has encrypted',
  hint: 'it needs a plugin that does, such as KSOPS in its repo server, or another backend of secrets (docs/gitops/repository.md)',
}
