import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** File with the authorities that the image trusts, as Debian's `ca-certificates` writes it. */
const SYSTEM = '/etc/ssl/certs/ca-certificates.crt'

/**
 * Writes a file with the authorities of both the operators and the image, because programs that are configured with an
 * authority file trust only the authorities in it. Returns the path of the file; undefined if the operators have
 * configured no authorities.
 */
export function writeAuthorities(own: string, to: string, system = SYSTEM): string | undefined {
  if (!existsSync(own)) return undefined
  const files = [own, ...(existsSync(system) ? [system] : [])]
  writeFileSync(to, files.map(file => `${readFileSync(file, 'utf8').trimEnd()}\n`).join(''))
  return to
}
