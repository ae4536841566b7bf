/** Prefix of the labels by which Services select the Pods of several services that share a host name. */
export const ALIAS_PREFIX = 'alias.devctl/'

/** Returns the label of the Pods that share a host name. */
export const aliasLabel = (name: string): string => ALIAS_PREFIX + name
