/**
 * Returns the name of the variable for a command argument that contains a secret. The variable comes from a Secret, and
 * a reference to the variable replaces the argument. Kubernetes expands such references in `command` and `args`, and
 * leaves a reference to an unknown variable as it is.
 */
export const argumentVariable = (key: 'entrypoint' | 'command', index: number): string =>
  `DEVCTL_${key.toUpperCase()}_${index + 1}`

export const argumentReference = (variable: string): string => `$(${variable})`

/** Returns true if an argument is a reference to a variable named by `argumentVariable`, rather than a literal text. */
export const isArgumentReference = (word: string): boolean => /^\$\(DEVCTL_(?:ENTRYPOINT|COMMAND)_\d+\)$/.test(word)
