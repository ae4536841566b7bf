import { platformNamedBy, tokenOf } from '../../project/contexts/platform-of-environment.ts'
import type { Io } from '../terminal/io.ts'

/**
 * True if commands use the platform `context` with the token in the environment variables. Settings stored for the
 * platform are ignored in that case.
 */
export const hasTokenOfEnvironment = (env: Io['env'], context: string): boolean =>
  platformNamedBy(env) === context && tokenOf(env) !== undefined

/**
 * Warns that the next commands will not use `namespace`, because the platform is set by environment variables, and says
 * which variable selects the namespace.
 */
export function warnOfToken({ stderr }: Io, namespace: string): void {
  stderr.write(
    `warning: \`DEVCTL_URL\` and \`DEVCTL_TOKEN\` are set and take precedence, without a namespace that is remembered\n  = help: to use namespace \`${namespace}\`, set \`DEVCTL_NAMESPACE=${namespace}\`\n`,
  )
}
