/**
 * Converts the name of a service or image to a part of a variable name (`DEVCTL_BUILD_<NAME>_IMAGE`): in upper case,
 * with `_` in place of characters that shell variables do not allow.
 */
export const toVariableName = (name: string): string => name.toUpperCase().replace(/[^A-Z0-9_]/g, '_')
