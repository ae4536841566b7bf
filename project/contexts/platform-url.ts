import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { isPlatform } from './store.ts'

/**
 * The address of a platform as it is kept: scheme and host. Throws a UsageError for what is no such
 * address, and for plain HTTP to another machine: a token would go over the line for all to read.
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
 * What a context that somebody names is called: the address of a platform may be written in another way
 * (`https://P.example.com/`). What is no address of one is as it was written.
 */
export function contextName(text: string): string {
  if (!isPlatform(text)) return text
  try {
    return platformUrl(text)
  } catch {
    return text
  }
}

/** True if others can read what is sent to the address: plain HTTP to another machine. */
export const isReadable = ({ protocol, hostname }: URL): boolean =>
  protocol !== 'https:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
