/**
 * True if a variable is one of devctl's own tokens (`DEVCTL_TOKEN`, `DEVCTL_GIT_TOKEN`, `DEVCTL_REGISTRY_TOKEN`,
 * `DEVCTL_FORGE_TOKEN`). Tokens must never be deployed or built into an image, where other users could read and use
 * them.
 */
export const isTokenVariable = (name: string): boolean => /^DEVCTL_([A-Z0-9]+_)*TOKEN$/.test(name)
