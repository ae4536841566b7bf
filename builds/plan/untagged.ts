import type { Project } from '../../compiler/compose/project.ts'

/**
 * Returns a sentence about the services with `build` to which `--tag` does not apply, since `image:` names their
 * images; undefined if no such service exists. With `chosen`, only considers those services.
 */
export function untaggedNote(
  { services }: Pick<Project, 'services'>,
  tag: string | undefined,
  chosen?: ReadonlySet<string>,
): string | undefined {
  if (tag === undefined) return undefined
  const named = [...services.values()].filter(({ name, build, image }) => build && image && (chosen?.has(name) ?? true))
  if (named.length === 0) return undefined
  const names = named.map(({ name }) => `\`${name}\``).join(', ')
  return `\`--tag\` does not apply to ${names}: \`image:\` has the whole name`
}
