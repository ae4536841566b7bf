import type { Cluster, KubeObject, ObjectRef } from '../../adapters/kubernetes/cluster.ts'
import { PLATFORM_NAMESPACE } from '../records/names.ts'

/** Milliseconds between two polls of an object that a command waits for. */
export const LOOK = 500

export interface InstallContext {
  readonly cluster: Cluster
  readonly signal: AbortSignal
  /** Milliseconds since 1970. */
  now(): number
  /** Receives progress messages of a few words. */
  on(text: string): void
  /** True if failures of the server's Pods do not end the wait for them. */
  readonly toleratesFailures?: boolean
}

/** `role/platform`; objects of the same name are in several namespaces. */
export const nameOf = ({ kind, name, namespace }: Pick<ObjectRef, 'kind' | 'name' | 'namespace'>): string =>
  `${kind.toLowerCase()}/${name}${namespace === undefined || namespace === PLATFORM_NAMESPACE ? '' : ` in ${namespace}`}`

export const nameOfObject = ({ kind, metadata: { name, namespace } }: KubeObject): string =>
  nameOf({ kind, name, namespace })

/**
 * True if the platform created the object. An object of the same name that an operator created stays the operator's.
 */
export const isOfPlatform = (live: KubeObject | undefined): boolean =>
  live?.metadata.labels?.['app.kubernetes.io/part-of'] === 'devctl'

/** An object of the server: all have the same name. */
export const ownRef = (apiVersion: string, kind: string): ObjectRef => ({
  apiVersion,
  kind,
  name: 'platform',
  namespace: PLATFORM_NAMESPACE,
})
