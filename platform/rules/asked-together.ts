/**
 * Maximum number of namespaces whose content can be requested together. For a longer list, pages request the content of
 * the first namespaces only.
 */
export const ASKED_TOGETHER = 24
