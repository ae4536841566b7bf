import type { Signal } from '@preact/signals'
import type { PreviewScope } from '../../../rules/previews/previews.ts'
import { isAdmin } from '../../state/session.ts'
import { Select } from './field.tsx'

const SCOPES = [
  ['personal', 'Only me'],
  ['global', 'Everyone'],
] as const

/** Renders the choice of who can see previews, for administrators only. */
export const ScopeField = ({ label, scope }: { readonly label: string; readonly scope: Signal<PreviewScope> }) =>
  isAdmin.value ? (
    <Select
      label={label}
      value={scope.value}
      options={SCOPES}
      onValue={value => {
        scope.value = value
      }}
    />
  ) : null
