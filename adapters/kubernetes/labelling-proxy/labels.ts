/**
 * Label of all objects that belong to an environment. Same value as in `environment/labels.ts`; a test compares the
 * two.
 */
export const ENVIRONMENT_LABEL = 'dev.platform/environment'

/**
 * Label of objects that commands created outside the environment's own namespace (in another namespace, or
 * cluster-wide). These objects also have the environment's label, but environments in different namespaces may have the
 * same name; this label names the namespace of the owner.
 */
export const HOME_LABEL = 'dev.platform/environment-namespace'

/** Annotation of objects that a command created: prune keeps them, destroy deletes them. */
export const ORIGIN_ANNOTATION = 'dev.platform/origin'
export const ORIGIN_COMMAND = 'command'
