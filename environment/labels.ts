/** The label of everything that belongs to an environment; its value is the environment's name. */
export const ENVIRONMENT_LABEL = 'dev.platform/environment'
/** The label that names the service an object belongs to, in Kubernetes' form. */
export const SERVICE_LABEL = 'dev.platform/service'
/**
 * The annotation of what a command of the manifest made: deploy leaves it alone, destroy takes it.
 */
export const ORIGIN_ANNOTATION = 'dev.platform/origin'
/**
 * The label, beside that of the environment, of what commands made outside the environment's
 * namespace: the namespace that the environment is in. Two namespaces may each have an environment
 * of one name.
 */
export const HOME_LABEL = 'dev.platform/environment-namespace'
/**
 * The annotation of a Pod template with an HMAC of the secrets that it mounts, so that a changed
 * one rolls the Pods.
 */
export const SECRETS_ANNOTATION = 'dev.platform/secrets'
/**
 * The field manager of everything that devctl applies. Never changes: the fields of another name
 * would be orphaned.
 */
export const MANAGER = 'devctl'
/** The field manager of changes that only make a controller try again; they change nothing of what is wanted. */
export const DRY_RUN_FIELD_MANAGER = `${MANAGER}-try`

/**
 * Selects the objects of an environment in its namespace; with `home`, which is that namespace,
 * those outside of it.
 */
export const environmentSelector = (environment: string, home?: string): string =>
  `${ENVIRONMENT_LABEL}=${environment}${home === undefined ? '' : `,${HOME_LABEL}=${home}`}`

/**
 * The labels of the objects that devctl keeps for an environment, besides those that its files
 * describe.
 */
export const ownLabels = (environment: string): Readonly<Record<string, string>> => ({
  [ENVIRONMENT_LABEL]: environment,
  'app.kubernetes.io/managed-by': 'devctl',
})
