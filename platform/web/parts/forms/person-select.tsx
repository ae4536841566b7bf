import type { Person } from '../../../api/common.ts'
import { Select } from './field.tsx'

interface PersonSelectProps {
  readonly label: string
  readonly people: readonly Person[]
  readonly selected: Person | undefined
  readonly onSelect: (id: string) => void
}

/**
 * Renders a list of users to select one of. No user is selected by default: a form that is submitted too early would
 * otherwise be about the first user of the list.
 */
export const PersonSelect = ({ label, people, selected, onSelect }: PersonSelectProps) => (
  <Select
    label={label}
    value={selected?.id ?? ''}
    options={[['', 'Choose a person'] as const, ...people.map(one => [one.id, nameOf(one)] as const)]}
    onValue={onSelect}
  />
)

const nameOf = ({ name, login }: Person): string => (name === undefined ? login : `${name} (${login})`)
