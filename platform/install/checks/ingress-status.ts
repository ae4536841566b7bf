import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import type { PlatformProblem } from '../../session/platform-problem.ts'
import { ownRef } from '../install-context.ts'

/**
 * Annotation of the default IngressClass:
 * https://kubernetes.io/docs/concepts/services-networking/ingress/#default-ingress-class
 */
const DEFAULT = 'ingressclass.kubernetes.io/is-default-class'

/** The Ingress of the platform, with the fields that decide whether it can be reached. */
export interface PlatformIngress {
  /** The host of the platform. */
  readonly host: string
  /** Ingress class. Absent if the Ingress names none. */
  readonly ingressClass?: string
  /** The addresses that the ingress controller has written into the Ingress. */
  readonly addresses: readonly string[]
}

interface IngressFields {
  readonly spec?: { readonly ingressClassName?: string }
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] }
  }
}

/** Reads the installed Ingress; undefined if it does not exist. */
export async function installedIngress(
  cluster: Cluster,
  host: string,
  signal: AbortSignal,
): Promise<PlatformIngress | undefined> {
  const live = await cluster.get(ownRef('networking.k8s.io/v1', 'Ingress'), { signal })
  if (!live) return undefined
  const { spec, status } = live as KubeObject & IngressFields
  const { ingressClassName } = spec ?? {}
  const addresses = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? [])
  return { host, ...(ingressClassName !== undefined && { ingressClass: ingressClassName }), addresses }
}

/**
 * Checks that an ingress controller can be expected to serve the Ingress: the class of the Ingress exists, or the
 * Ingress has no class and the cluster has a default class.
 */
export async function ingressProblem(
  cluster: Cluster,
  { host, ingressClass, addresses }: PlatformIngress,
  signal: AbortSignal,
): Promise<PlatformProblem | undefined> {
  const classes = await cluster.list({ apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass' }, { signal })
  const names = classes.map(({ metadata }) => metadata.name).sort()
  const isDefault = ({ metadata }: KubeObject) => metadata.annotations?.[DEFAULT] === 'true'
  const hint = hintText(names)
  if (ingressClass !== undefined)
    return names.includes(ingressClass)
      ? undefined
      : {
          message: `the ingress class \`${ingressClass}\` does not exist, so no ingress controller serves \`${host}\``,
          notes: [],
          hint,
        }
  // Some controllers serve Ingresses without a class. An address in the Ingress shows that such a controller exists.
  if (classes.some(isDefault) || addresses.length > 0) return undefined
  return {
    message: `no ingress class is named, and the cluster has no default one: ingress controllers may ignore \`${host}\``,
    notes: [],
    hint,
  }
}

/** Returns notes about the Ingress for a platform whose address does not answer. */
export function ingressNotes(ingress: PlatformIngress | undefined): readonly string[] {
  if (!ingress) return ['`ingress/platform` does not exist in `devctl-platform`']
  return [
    ingress.addresses.length > 0
      ? `the ingress controller serves \`${ingress.host}\` at ${ingress.addresses.join(', ')}`
      : 'no ingress controller has written its address into `ingress/platform`',
  ]
}

const hintText = (names: readonly string[]): string =>
  names.length === 0
    ? 'the cluster has no ingress class: install an ingress controller'
    : `name a class that exists: ${names.map(name => `\`devctl platform install --ingress-class ${name}\``).join(' or ')}`
