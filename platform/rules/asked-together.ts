/** Namespaces that one question about what runs there may be about: pages show so many at the top of a list. */
export const ASKED_TOGETHER = 24
