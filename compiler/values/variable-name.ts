/**
 * The name of a service or image as part of a variable's (`DEVCTL_BUILD_<NAME>_IMAGE`): in upper
 * case, with `_` for what a variable of a shell cannot have.
 */
export const toVariableName = (name: string): string => name.toUpperCase().replace(/[^A-Z0-9_]/g, '_')
