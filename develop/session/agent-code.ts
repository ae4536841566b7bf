import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { embeddedFile } from '../../adapters/files/embedded-file.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/** Returns the agent's program, the single file that the build has bundled (scripts/bundle.mjs). */
export function agentCode(): Uint8Array {
  const embedded = embeddedFile('dist/agent/agent.cjs')
  if (embedded) return embedded
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    for (const name of ['agent/agent.cjs', 'dist/agent/agent.cjs']) {
      const path = join(folder, name)
      if (existsSync(path)) return readFileSync(path)
    }
    if (folder === dirname(folder))
      throw new UserError('the program of the agent is missing from this installation of devctl', {
        hint: 'install devctl again, or run `npm run build` in its sources',
      })
  }
}
