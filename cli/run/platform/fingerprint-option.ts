import { givenAuthority } from '../../../platform/install/certificates/given-authority.ts'

/** A platform, and the authorities that may have signed its certificate. */
export interface SignedPlatform {
  readonly url: string
  /** Fingerprint of the platform's own authority. */
  readonly own: string | undefined
  /** Authorities of `--ca`, in PEM. */
  readonly authorities: string | undefined
}

/**
 * Returns the option of the login command with the fingerprint of an authority: the platform's own authority, or else
 * the authority in `--ca` that has signed the certificate of the platform. Empty if any other authority has signed the
 * certificate.
 */
export async function fingerprintOption(
  { url, own, authorities }: SignedPlatform,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<string> {
  const fingerprint = own ?? (await givenAuthority({ env, signal }, url, authorities))
  return fingerprint === undefined ? '' : ` --ca-fingerprint ${fingerprint}`
}
