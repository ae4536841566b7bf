import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { UsageError } from '../../../compiler/diagnostics/user-error.ts'

/** Value of `--ca` that removes the authorities. */
const NONE = '-'

/**
 * Returns the certificates in the file of `--ca`, in PEM; undefined for `-`. Without the option, returns the
 * certificates of the installed platform. Throws a UsageError for a file without certificates.
 */
export async function readAuthorities(
  file: string | undefined,
  installed: string | undefined,
): Promise<string | undefined> {
  if (file === undefined) return installed
  if (file === NONE) return undefined
  const text = await readFile(file, 'utf8').catch(error => {
    throw new UsageError(`\`--ca\`: \`${file}\` cannot be read`, { cause: error })
  })
  // A private key in the same file stays on this machine.
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
  if (certificates.length === 0)
    throw new UsageError(`\`--ca\`: \`${file}\` has no certificate`, { hint: 'name a file in PEM' })
  for (const one of certificates) requireCertificate(one, file)
  return `${certificates.join('\n')}\n`
}

function requireCertificate(pem: string, file: string): void {
  try {
    new X509Certificate(pem)
  } catch (error) {
    throw new UsageError(`\`--ca\`: a certificate in \`${file}\` is damaged`, {
      hint: 'check it: `openssl x509 -noout -subject -in FILE`',
      cause: error,
    })
  }
}
