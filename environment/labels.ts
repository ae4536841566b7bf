/** Label of every object that belongs to an environment; its value is the environment's name. */
export const ENVIRONMENT_LABEL = 'dev.platform/environment'
/** Label with the service that an object belongs to, in Kubernetes form. */
export const SERVICE_LABEL = 'dev.platform/service'
/** Annotation of objects created by a command of the manifest: deploy leaves them alone, destroy deletes them. */
export const ORIGIN_ANNOTATION = 'dev.platform/origin'
/**
 * Label of objects that commands created outside the environment's namespace, set together with the environment's
 * label. Its value is the environment's namespace, because two namespaces may have environments of the same name.
 */
export const HOME_LABEL = 'dev.platform/environment-namespace'
/**
 * Annotation of a Pod template with an HMAC of the secrets that the Pods mount. A changed secret changes the
 * annotation, so that the Pods are replaced.
 */
export const SECRETS_ANNOTATION = 'dev.platform/secrets'
/**
 * Field manager of everything that devctl applies. Must never change: a different manager could not remove fields that
 * were applied under this name.
 */
export const MANAGER = 'devctl'
/** Field manager of changes that only make a controller retry; they do not change the desired state. */
export const RETRY_FIELD_MANAGER = `${MANAGER}-try`

/**
 * Returns the selector of an environment's objects in its namespace, or, if the namespace is passed as `home`, of its
 * objects outside that namespace.
 */
export const environmentSelector = (environment: string, home?: string): string =>
  `${ENVIRONMENT_LABEL}=${environment}${home === undefined ? '' : `,${HOME_LABEL}=${home}`}`

/**
 * Returns the labels of the objects that devctl itself stores for an environment, as opposed to the objects that its
 * files describe.
 */
export const ownLabels = (environment: string): Readonly<Record<string, string>> => ({
  [ENVIRONMENT_LABEL]: environment,
  'app.kubernetes.io/managed-by': 'devctl',
})
