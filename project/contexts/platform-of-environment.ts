import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { platformUrl } from './platform-url.ts'
import { Secret } from './secret.ts'

type Env = Readonly<Record<string, string | undefined>>

/**
 * Returns the platform of `DEVCTL_URL`; undefined if it is not set. Throws a UserError for a value that `platformUrl`
 * rejects, without revealing a password in it.
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
 * Returns the platform of `DEVCTL_URL`, like `platformOf`, but without errors: text that is not a platform URL is
 * returned unchanged.
 */
export function platformNamedBy(env: Env): string | undefined {
  try {
    return platformOf(env)
  } catch {
    return env.DEVCTL_URL
  }
}

/**
 * Returns the token of `DEVCTL_TOKEN`; undefined if it is not set. Throws a UserError for a value that cannot be a
 * token.
 */
export const tokenOf = ({ DEVCTL_TOKEN: text }: Env): Secret | undefined =>
  text?.trim() ? toToken(text, '`DEVCTL_TOKEN`') : undefined

/**
 * Returns the token without surrounding whitespace, such as the line end of a file. Throws a UserError for text that a
 * header cannot contain.
 */
export function toToken(text: string, from: string): Secret {
  const token = text.trim()
  if (/^[\x21-\x7e]+$/.test(token)) return new Secret(token)
  throw new UserError(`${from} does not contain a token: it has spaces or characters that tokens never have`, {
    hint: 'copy it again: a token of a platform begins with `devctl_`',
  })
}

/** Returns a hint for an address without `https://`, such as `platform.example.com`. */
const withScheme = (text: string): string | undefined =>
  /^[\w-]+(\.[\w-]+)+(:\d+)?\/?$/.test(text) ? `write \`https://${text.replace(/\/$/, '')}\`` : undefined
