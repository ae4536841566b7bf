import { UsageError } from '../../compiler/diagnostics/user-error.ts'

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

/** True if others can read what is sent to the address: plain HTTP to another machine. */
export const isReadable = ({ protocol, hostname }: URL): boolean =>
  protocol !== 'https:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
