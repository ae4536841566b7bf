/**
 * Maximum number of namespaces whose content can be requested together. Pages request it for this many namespaces at
 * the top of a list.
 */
export const ASKED_TOGETHER = 24
