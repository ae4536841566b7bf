/**
 * A word of a container's command that holds something secret is the value of a variable, which comes from a Secret;
 * the command has a reference to it, which Kubernetes replaces in `command` and `args`. Where there is no such
 * variable, it leaves the word as it stands.
 */
export const argumentVariable = (key: 'entrypoint' | 'command', index: number): string =>
  `DEVCTL_${key.toUpperCase()}_${index + 1}`

export const argumentReference = (variable: string): string => `$(${variable})`

/** Returns whether a word is such a reference, and so not literal. */
export const isArgumentReference = (word: string): boolean => /^\$\(DEVCTL_(?:ENTRYPOINT|COMMAND)_\d+\)$/.test(word)
