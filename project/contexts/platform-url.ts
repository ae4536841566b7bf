import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { isPlatform } from './store.ts'

/**
 * Returns the normalized URL of a platform: scheme and host. Throws a UsageError for text that is not such a URL, and
 * for plain HTTP to another machine, because the token would be readable in transit.
 */
export function platformUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new UsageError('the address of a platform is like `https://platform.example.com`')
  if (url.pathname !== '/') throw new UsageError(`\`${text}\` has a path`, { hint: `write \`${url.origin}\`` })
  if (isReadable(url))
    throw new UsageError(`\`${url.origin}\` is not encrypted`, { hint: `write \`https://${url.host}\`` })
  return url.origin
}

/**
 * Returns the name of a context: the normalized form of a platform URL (`https://P.example.com/`), and other text
 * unchanged.
 */
export function contextName(text: string): string {
  if (!isPlatform(text)) return text
  try {
    return platformUrl(text)
  } catch {
    return text
  }
}

/** Returns true if requests to the address can be read in transit: plain HTTP to another machine. */
export const isReadable = ({ protocol, hostname }: URL): boolean =>
  protocol !== 'https:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
