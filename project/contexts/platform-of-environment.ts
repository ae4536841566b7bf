import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { platformUrl } from './platform-url.ts'
import { Secret } from './secret.ts'

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
    throw new UserError(`\`DEVCTL_URL\` is not the address of a platform: ${error.message}`, {
      hint: error.hint ?? withScheme(text) ?? 'to choose a context of the kubeconfig, set `DEVCTL_CONTEXT`',
      cause: error,
    })
  }
}

/**
 * Returns the platform of `DEVCTL_URL`, as `platformOf` does, but without errors: text that is not a platform URL is
 * returned unchanged.
 */
export function platformNamedBy(env: Env): string | undefined {
  try {
    return platformOf(env)
  } catch {
    return env.DEVCTL_URL
  }
}

/** The token of `DEVCTL_TOKEN`; undefined without one. Throws a UserError for what no token is. */
export const tokenOf = ({ DEVCTL_TOKEN: text }: Env): Secret | undefined =>
  text?.trim() ? toToken(text, '`DEVCTL_TOKEN`') : undefined

/**
 * Returns the given token without surrounding whitespace, such as the line end of a file. Throws a UserError for text
 * that no header can contain.
 */
export function toToken(text: string, from: string): Secret {
  const token = text.trim()
  if (/^[\x21-\x7e]+$/.test(token)) return new Secret(token)
  throw new UserError(`${from} does not contain a token: it has spaces or characters that tokens never have`, {
    hint: 'copy it again: a token of a platform begins with `devctl_`',
  })
}

/** `platform.example.com` lacks `https://`. */
const withScheme = (text: string): string | undefined =>
  /^[\w-]+(\.[\w-]+)+(:\d+)?\/?$/.test(text) ? `write \`https://${text.replace(/\/$/, '')}\`` : undefined
