import type { Cluster, KubeObject, ObjectRef } from '../../adapters/kubernetes/cluster.ts'
import { PLATFORM_NAMESPACE } from '../records/names.ts'

/** Polling interval for objects that a command waits for, in milliseconds. */
export const LOOK = 500

export interface InstallContext {
  readonly cluster: Cluster
  readonly signal: AbortSignal
  /** Returns the current time in milliseconds since 1970. */
  now(): number
  /** Receives progress messages of a few words. */
  on(text: string): void
  /** True if failures of the server's Pods do not end the wait for the server. */
  readonly toleratesFailures?: boolean
  /** Timeout for the server's Pods, in milliseconds. */
  readonly patience?: number
}

/**
 * Returns the kind and name of an object, such as `role/platform`. Adds the namespace unless it is the platform's own,
 * because objects of the same name exist in several namespaces.
 */
export const nameOf = ({ kind, name, namespace }: Pick<ObjectRef, 'kind' | 'name' | 'namespace'>): string =>
  `${kind.toLowerCase()}/${name}${namespace === undefined || namespace === PLATFORM_NAMESPACE ? '' : ` in ${namespace}`}`

export const nameOfObject = ({ kind, metadata: { name, namespace } }: KubeObject): string =>
  nameOf({ kind, name, namespace })

/**
 * True if the platform created the object. An object of the same name that an operator created remains the operator's.
 */
export const isOfPlatform = (live: KubeObject | undefined): boolean =>
  live?.metadata.labels?.['app.kubernetes.io/part-of'] === 'devctl'

/** Selector of the server's Pods in its namespace. */
export const SERVER_PODS = 'app.kubernetes.io/name=platform'

/** Returns the reference of an object of the server. All objects of the server have the same name. */
export const ownRef = (apiVersion: string, kind: string): ObjectRef => ({
  apiVersion,
  kind,
  name: 'platform',
  namespace: PLATFORM_NAMESPACE,
})
