/**
 * Name of the file with the rules of SOPS. SOPS uses the nearest one, from the folder of the encrypted file upwards.
 */
export const SOPS_CONFIG = '.sops.yaml'
