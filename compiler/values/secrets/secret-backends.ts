/**
 * True if a backend of secrets publishes the values themselves, encrypted, so that they have to be
 * known where devctl runs.
 */
export const needsValues = (backend: string | undefined): boolean => backend === 'sealed' || backend === 'sops'
