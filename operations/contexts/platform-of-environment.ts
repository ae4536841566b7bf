import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { platformUrl } from './platform-url.ts'

type Env = Readonly<Record<string, string | undefined>>

/**
 * The platform of `DEVCTL_URL`; undefined without one. Throws a UserError for what `platformUrl` refuses, without a
 * password that is in it.
 */
export function platformOf({ DEVCTL_URL: text }: Env): string | undefined {
  if (!text) return undefined
  try {
    return platformUrl(text)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UserError(`\`DEVCTL_URL\` is no address of a platform: ${error.message}`, {
      hint: error.hint ?? withScheme(text) ?? 'a context of the kubeconfig is chosen by `DEVCTL_CONTEXT`',
      cause: error,
    })
  }
}

/** The same without a complaint: what is no address of a platform is as it was written. */
export function platformNamedBy(env: Env): string | undefined {
  try {
    return platformOf(env)
  } catch {
    return env.DEVCTL_URL
  }
}

/** `platform.example.com` lacks `https://`. */
const withScheme = (text: string): string | undefined =>
  /^[\w-]+(\.[\w-]+)+(:\d+)?\/?$/.test(text) ? `write \`https://${text.replace(/\/$/, '')}\`` : undefined
