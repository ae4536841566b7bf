/**
 * Returns whether a variable is one of devctl's own tokens (`DEVCTL_TOKEN`, `DEVCTL_GIT_TOKEN`,
 * `DEVCTL_REGISTRY_TOKEN`, `DEVCTL_FORGE_TOKEN`). They are never content: what is deployed or built could be read by
 * others, who would act with them.
 */
export const isTokenVariable = (name: string): boolean => /^DEVCTL_([A-Z0-9]+_)*TOKEN$/.test(name)
