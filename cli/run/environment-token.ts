import { platformNamedBy, tokenOf } from '../../project/contexts/platform-of-environment.ts'
import type { Io } from '../terminal/io.ts'

/**
 * True if commands use a platform with the token from the environment variables: then settings stored for the platform
 * are ignored.
 */
export const hasTokenOfEnvironment = (env: Io['env'], context: string): boolean =>
  platformNamedBy(env) === context && tokenOf(env) !== undefined

/** Warns that the next commands will not use this namespace, and says how to select it. */
export function warnOfToken({ stderr }: Io, namespace: string): void {
  stderr.write(
    `warning: \`DEVCTL_URL\` and \`DEVCTL_TOKEN\` are set and take precedence, without a namespace that is remembered\n  = help: to use namespace \`${namespace}\`, set \`DEVCTL_NAMESPACE=${namespace}\`\n`,
  )
}
