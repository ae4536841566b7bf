import { platformNamedBy, tokenOf } from '../../project/contexts/platform-of-environment.ts'
import type { Io } from '../terminal/io.ts'

/** True if commands use a platform with the token of the environment: what is remembered of it does not count then. */
export const hasTokenOfEnvironment = (env: Io['env'], context: string): boolean =>
  platformNamedBy(env) === context && tokenOf(env) !== undefined

/** Warns that a namespace is not the one of the next commands, and says how it becomes it. */
export function warnOfToken({ stderr }: Io, namespace: string): void {
  stderr.write(
    `warning: \`DEVCTL_URL\` and \`DEVCTL_TOKEN\` are set and take precedence, without a namespace that is remembered\n  = help: to use namespace \`${namespace}\`, set \`DEVCTL_NAMESPACE=${namespace}\`\n`,
  )
}
