/** The label of everything that belongs to an environment; its value is the environment's name (decisions section 4, "Labels"). */
export const ENVIRONMENT_LABEL = 'dev.platform/environment'
/** The label that names the service an object belongs to, in Kubernetes' form. */
export const SERVICE_LABEL = 'dev.platform/service'
/** The field manager of everything that devctl applies. Never changes: the fields of another name would be orphaned. */
export const MANAGER = 'devctl'

/** Selects the objects of an environment. */
export const environmentSelector = (environment: string): string => `${ENVIRONMENT_LABEL}=${environment}`
