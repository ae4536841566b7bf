/** Returns a reference with the digest of its image, if known: `r.example.com/web:1@sha256:…`. */
export const withDigest = (reference: string, digest: string | undefined): string =>
  digest === undefined || reference.includes('@') ? reference : `${reference}@${digest}`
