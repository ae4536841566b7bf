/**
 * The name of the file in which SOPS finds its rules: the nearest one, from the folder of the
 * encrypted file upwards.
 */
export const SOPS_CONFIG = '.sops.yaml'
