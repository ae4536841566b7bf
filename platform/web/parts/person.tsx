import type { Person } from '../../api/common.ts'

/** Number of avatar colors. Each has enough contrast with the initials in the light and the dark theme. */
const COLOURS = 8

/** Renders the initials of a user in the user's color. */
export function Avatar({ person, size = 'm' }: { readonly person: Person; readonly size?: 's' | 'm' | 'l' }) {
  const text = (person.name ?? person.login).trim()
  const letters = text.split(/[\s._-]+/).filter(one => one !== '')
  const shown = (letters.length > 1 ? [letters[0], letters.at(-1)] : [letters[0]])
    .map(one => [...(one ?? '?')][0])
    .join('')
  let sum = 0
  for (const letter of person.id) sum = (sum * 31 + letter.charCodeAt(0)) % 997
  return (
    <span class={`avatar avatar-${size} colour-${sum % COLOURS}`} aria-hidden="true">
      {shown.toUpperCase()}
    </span>
  )
}

/** Renders a user in a row: initials, name, and login. Without a name, shows only the login. */
export const PersonLine = ({ person, isYou = false }: { readonly person: Person; readonly isYou?: boolean }) => (
  <span class="person">
    <Avatar person={person} />
    <span class="person-text">
      <span class="strong">
        {person.name ?? person.login}
        {isYou && <span class="soft"> (you)</span>}
      </span>
      {person.name !== undefined && <span class="soft">{person.login}</span>}
    </span>
  </span>
)
