import type { Cluster, KubeObject, ObjectRef } from '../../adapters/kubernetes/cluster.ts'
import { PLATFORM_NAMESPACE } from '../records/names.ts'

/** Milliseconds between two looks at what is waited for. */
export const LOOK = 500

export interface InstallContext {
  readonly cluster: Cluster
  readonly signal: AbortSignal
  /** Milliseconds since 1970. */
  now(): number
  /** Hears what happens, in a few words. */
  on(text: string): void
  /** True if failures of the server's Pods do not end the wait for them. */
  readonly toleratesFailures?: boolean
}

/** `role/platform`; objects of the same name are in several namespaces. */
export const nameOf = ({ kind, name, namespace }: Pick<ObjectRef, 'kind' | 'name' | 'namespace'>): string =>
  `${kind.toLowerCase()}/${name}${namespace === undefined || namespace === PLATFORM_NAMESPACE ? '' : ` in ${namespace}`}`

export const nameOfObject = ({ kind, metadata: { name, namespace } }: KubeObject): string =>
  nameOf({ kind, name, namespace })

/** What an operator has made by the same name is theirs. */
export const isOfPlatform = (live: KubeObject | undefined): boolean =>
  live?.metadata.labels?.['app.kubernetes.io/part-of'] === 'devctl'

/** An object of the server: all have the same name. */
export const ownRef = (apiVersion: string, kind: string): ObjectRef => ({
  apiVersion,
  kind,
  name: 'platform',
  namespace: PLATFORM_NAMESPACE,
})
