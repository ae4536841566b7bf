/**
 * Maximum number of namespaces whose content can be requested together. Pages request the content of the first
 * namespaces of a list, up to this number.
 */
export const ASKED_TOGETHER = 24
