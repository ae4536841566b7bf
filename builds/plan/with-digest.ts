import { isPinned } from '../../compiler/values/images/image-reference.ts'

/**
 * Returns a reference with the digest added: `r.example.com/web:1@sha256:…`. Leaves the reference unchanged if the
 * digest is undefined or if the reference has a digest already.
 */
export const withDigest = (reference: string, digest: string | undefined): string =>
  digest === undefined || isPinned(reference) ? reference : `${reference}@${digest}`
