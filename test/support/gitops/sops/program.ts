import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const VERSION = 'v3.13.3'

/**
 * Returns the folder of the program `sops`, built from its Go module into a folder that git ignores; Go keeps what it
 * has built.
 */
export function installSops(): string {
  const folder = join(import.meta.dirname, '../../../../node_modules/.cache/sops')
  const env = { ...process.env, GOBIN: folder, CGO_ENABLED: '0' }
  execFileSync('go', ['install', `github.com/getsops/sops/v3/cmd/sops@${VERSION}`], { env, stdio: 'inherit' })
  return folder
}
