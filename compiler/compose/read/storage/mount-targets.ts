import { posix } from 'node:path'
import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { At, Span } from '../../../text/source.ts'
import type { Service } from '../../project.ts'
import type { ReadContext } from '../context.ts'

/**
 * Mount options. In a short volume such as `/etc/localtime:ro`, the text after the colon is the target. If the text is
 * one of these options, the user has probably forgotten the target.
 */
const OPTIONS = new Set(['ro', 'rw', 'z', 'Z'])

const relativeTarget = diagnostic({
  code: 'mounts/relative-target',
  severity: 'error',
  explain: `The target of a mount is a path in the container that starts with \`/\`. It is not relative to the working directory of the container.

\`\`\`yaml
volumes:
  - data:data        # relative
  - data:/app/data   # absolute
\`\`\``,
  text: (p: { target: string }) => ({
    message: `the mount path \`${p.target}\` is not absolute`,
    hint: OPTIONS.has(p.target)
      ? `\`${p.target}\` is an option: write \`/path:/path:${p.target}\``
      : `write \`/${p.target.replace(/^(?:\.?\/)+/, '')}\` or the full path in the container`,
  }),
})

const incomplete = diagnostic({
  code: 'mounts/incomplete',
  severity: 'error',
  explain: `A mount needs a \`target\`, the path in the container. A bind mount needs a path on this machine as \`source\`, an image mount an image. A volume without \`source\` is anonymous.

\`\`\`yaml
volumes:
  - type: bind
    source: ./site
    target: /usr/share/nginx/html
\`\`\``,
  text: (p: { type: string; missing: 'source' | 'target' }) => ({
    message: `a mount of type \`${p.type}\` has no \`${p.missing}\``,
    hint: `add \`${p.missing}\``,
  }),
})

const rootTarget = diagnostic({
  code: 'mounts/root-target',
  severity: 'error',
  explain: 'A mount on `/` would hide the whole image, with the program to start. Mount a directory below it.',
  text: () => ({ message: 'a mount on `/` hides the whole image', hint: 'mount a directory below `/`' }),
})

const colonTarget = diagnostic({
  code: 'mounts/colon-in-target',
  severity: 'error',
  explain:
    'Kubernetes does not allow a colon in a mount path. A path such as `a:/b` comes from a short form with too many parts: use the long form, which names each part.',
  text: (p: { target: string }) => ({
    message: `the mount path \`${p.target}\` contains a colon, which Kubernetes does not allow`,
    hint: 'use the long form: `{type: volume, source: …, target: …}`',
  }),
})

const badSubpath = diagnostic({
  code: 'mounts/bad-subpath',
  severity: 'error',
  explain: `\`subpath\` is a folder or file inside the volume or image: a relative path without \`..\`. Container engines and Kubernetes refuse other paths.

\`\`\`yaml
volumes:
  - type: volume
    source: data
    target: /var/lib/app
    volume: {subpath: app/state}
\`\`\``,
  text: (p: { subpath: string }) => ({
    message: `the subpath \`${p.subpath}\` is not a relative path inside the volume`,
    hint: 'write a relative path without `..`',
  }),
})

export const duplicateTarget = diagnostic({
  code: 'mounts/duplicate-target',
  severity: 'error',
  explain: `Two mounts of a service have the same path in the container, so one would hide the other. Kubernetes refuses that. Paths are normalized first: \`/data\` and \`/data/\` are the same.`,
  text: (p: { target: string }) => ({
    message: `two mounts use the path \`${p.target}\``,
    hint: 'remove one of them, or change its path',
  }),
})

/**
 * Returns a path in the container in normalized form. Reports a path that is relative, is `/`, or contains a colon, and
 * returns undefined.
 */
export function cleanTarget({ value, span }: At<string>, { reporter }: ReadContext): At<string> | undefined {
  if (!value.startsWith('/')) {
    reporter.report(relativeTarget, span, { target: value })
    return undefined
  }
  const clean = posix.normalize(value).replace(/(?<=.)\/$/, '')
  if (clean === '/') {
    reporter.report(rootTarget, span, undefined)
    return undefined
  }
  if (clean.includes(':')) {
    reporter.report(colonTarget, span, { target: value })
    return undefined
  }
  return { value: clean, span }
}

/** Returns a path inside a volume or image. Reports a path that is absolute or contains `..`, and returns undefined. */
export function checkSubpath(found: At<string> | undefined, { reporter }: ReadContext): string | undefined {
  if (!found || !(found.value.startsWith('/') || found.value.split('/').includes('..'))) return found?.value
  reporter.report(badSubpath, found.span, { subpath: found.value })
  return undefined
}

/** Reports a mount that lacks its source or target. */
export function reportIncomplete(
  type: string,
  missing: 'source' | 'target',
  span: Span,
  { reporter }: Pick<ReadContext, 'reporter'>,
): undefined {
  reporter.report(incomplete, span, { type, missing })
}

/**
 * Reports configs and secrets of a service that have the same path as another mount. (The loader reports volumes and
 * tmpfs mounts with the same path, as Docker Compose does.)
 */
export function checkTargets(
  service: Pick<Service, 'mounts' | 'tmpfs' | 'configs' | 'secrets'>,
  { reporter }: ReadContext,
): void {
  const mounted = new Map<string, Span>()
  for (const { target } of service.mounts) mounted.set(target.value, target.span)
  for (const { target, span } of service.tmpfs) mounted.set(target, span)
  for (const { target, span } of [...service.configs, ...service.secrets]) {
    const other = mounted.get(target)
    if (!other) mounted.set(target, span)
    else reporter.report(duplicateTarget, span, { target }, [{ span: other, message: `\`${target}\` is mounted here` }])
  }
}
