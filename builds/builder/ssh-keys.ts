import { openAgents } from '../../adapters/buildkit/ssh/open-agents.ts'
import { type Diagnostic, diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { BuildSpec } from '../../compiler/values/images/build-spec.ts'
import type { PlannedBuild } from '../plan/planned-build.ts'
import { agentPaths } from './from-environment.ts'

const noKey = diagnostic({
  code: 'build/ssh-key-not-available',
  severity: 'error',
  explain: `An entry of \`ssh\` is the SSH agent (\`default\`, which needs \`SSH_AUTH_SOCK\`), the socket of an agent, or a private key without a passphrase. This one does not exist on this machine, or is not one of these. Only commands that build need it; \`render\` does not.

\`\`\`yaml
services:
  web:
    build:
      context: .
      ssh:
        - default
        - deploy=~/.ssh/deploy
\`\`\``,
  text: ({ problem }: { readonly problem: UserError }) => ({ message: problem.message, hint: problem.hint }),
})

/**
 * Returns a diagnostic for each SSH key or agent of the builds that cannot be used, at its position in the file.
 * Without this check, a build could fail much later, at the step that needs the key. Reads the keys.
 */
export async function checkSshKeys(
  builds: readonly PlannedBuild[],
  specs: ReadonlyMap<string, BuildSpec>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Diagnostic[]> {
  const reporter = new Reporter()
  for (const { service, ssh = [] } of builds)
    for (const { id, span } of ssh) {
      const problem = await problemOf(id, agentPaths(specs.get(service)!.ssh.get(id) ?? [], env))
      if (problem) reporter.report(noKey, span, { problem })
    }
  return reporter.diagnostics()
}

async function problemOf(id: string, paths: readonly string[]): Promise<UserError | undefined> {
  try {
    await openAgents(new Map([[id, paths]]))
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  return undefined
}
