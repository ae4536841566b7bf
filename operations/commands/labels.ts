/**
 * The label of everything that belongs to an environment, as `environment/labels.ts` has it; a test
 * holds the two together.
 */
export const ENVIRONMENT_LABEL = 'dev.platform/environment'

/**
 * The label, beside that of the environment, of objects that commands made outside the
 * environment's own namespace: in another one, or for the whole cluster. Two namespaces may have an
 * environment of the same name each; this tells whose object it is.
 */
export const HOME_LABEL = 'dev.platform/environment-namespace'

/** The annotation of what a command made: prune leaves it, destroy takes it. */
export const ORIGIN_ANNOTATION = 'dev.platform/origin'
export const ORIGIN_COMMAND = 'command'
