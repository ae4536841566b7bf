import { UsageError } from '../../compiler/diagnostics/user-error.ts'

/** Source and target of a copy; one of them is in a container. */
export type CopyPaths =
  | { readonly direction: 'in'; readonly service: string; readonly local: string; readonly remote: string }
  | { readonly direction: 'out'; readonly service: string; readonly local: string; readonly remote: string }

/**
 * Parses the two paths of a copy. `SERVICE:PATH` is a path in a container; without a leading slash, it is below the
 * root, as in Docker. A path of this machine with a colon begins with `./` or `/`. Throws a UsageError if not exactly
 * one path is in a container.
 */
export function parseCopyPaths(source: string, target: string): CopyPaths {
  const [from, to] = [remoteOf(source), remoteOf(target)]
  if (from && !to) return { direction: 'out', ...from, local: notEmpty(target) }
  if (to && !from) return { direction: 'in', ...to, local: notEmpty(source) }
  if (from && to)
    throw new UsageError('both paths are in containers', { hint: 'copy to this machine first, and from there' })
  throw new UsageError('neither path is in a container', { hint: 'write `SERVICE:PATH` for the one that is' })
}

function remoteOf(text: string): { readonly service: string; readonly remote: string } | undefined {
  const [, service, path = ''] = /^([A-Za-z0-9][\w.-]*):(.*)$/s.exec(text) ?? []
  // A single letter is a drive of Windows.
  if (service === undefined || (service.length === 1 && /^[\\/]/.test(path) && process.platform === 'win32'))
    return undefined
  if (path === '') throw new UsageError(`\`${text}\` has no path`, { hint: 'write `SERVICE:PATH`' })
  return { service, remote: path.startsWith('/') ? path : `/${path}` }
}

function notEmpty(path: string): string {
  if (path === '') throw new UsageError('a path is empty')
  if (path === '-')
    throw new UsageError('`-` is no path', {
      hint: '`devctl exec --service SERVICE -- tar -cf - PATH` writes an archive to standard output',
    })
  return path
}

/** Returns true if a path names the content of a folder: `/data/.`. */
export const isContentOf = (path: string): boolean => /(^|[/\\])\.[/\\]?$/.test(path)
