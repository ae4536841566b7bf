import type { Namespace } from '../../api/namespaces.ts'

/** Namespaces under one title. */
export interface NamespaceGroup {
  readonly title: string
  readonly about?: string
  readonly found: readonly Namespace[]
}

/**
 * Groups namespaces in the order in which users look for them: their own namespaces first, with the home namespace at
 * the top.
 */
export function groupsOf(items: readonly Namespace[], self: string | undefined): readonly NamespaceGroup[] {
  const order = (one: Namespace) => (one.kind === 'personal' ? 0 : 1)
  const pick = (wanted: (one: Namespace) => boolean) =>
    items.filter(wanted).sort((a, b) => order(a) - order(b) || (a.name < b.name ? -1 : 1))
  const isPreview = (one: Namespace) => one.kind === 'preview'
  const isMine = (one: Namespace) => one.owner.id === self
  return [
    { title: 'Your namespaces', found: pick(one => !isPreview(one) && isMine(one)) },
    { title: 'Shared with you', found: pick(one => !isPreview(one) && !isMine(one) && one.role !== undefined) },
    { title: 'Previews', found: pick(isPreview) },
    {
      title: 'Other namespaces',
      about: 'Visible to you as an administrator. Only their members see what runs in them.',
      found: pick(one => !isPreview(one) && !isMine(one) && one.role === undefined),
    },
  ].filter(group => group.found.length > 0)
}
