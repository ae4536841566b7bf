import { join } from 'node:path'
import { build } from 'esbuild'
import { root } from '../../support/cases.ts'

/** Bundles the SSH server of the agent into one file, which exports `start`. */
export async function bundledSshServer(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: `export { startSshServer as start } from './agent/ssh-server.ts'`, resolveDir: root },
    absWorkingDir: join(root),
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    // Native parts, which ssh2 does without.
    external: ['cpu-features', '*.node'],
    write: false,
    logLevel: 'error',
  })
  return outputFiles[0]!.text
}
