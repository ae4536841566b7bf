/** True if a secret backend commits the values themselves in encrypted form, so that devctl needs to know them. */
export const needsValues = (backend: string | undefined): boolean => backend === 'sealed' || backend === 'sops'
