import { useSignal } from '@preact/signals'
import { addressOf } from '../../../api/pages.ts'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { navigate } from '../../state/navigate.ts'
import { refreshAll } from '../../state/resource.ts'
import { FormDialog } from './dialog.tsx'
import { Field } from './field.tsx'

/** Pattern that a name is checked against while the user types; the platform makes the final decision. */
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/** Asks for the name of a namespace and creates it. */
export function NewNamespace({ onClose }: { readonly onClose: () => void }) {
  const name = useSignal('')
  const create = useAction(async () => {
    await platform.call('POST /namespaces', { body: { name: name.value } })
    refreshAll()
    navigate(addressOf('namespace', { ns: name.value }))
  })
  const isName = NAME.test(name.value)
  return (
    <FormDialog
      title="New namespace"
      action="Create"
      isBusy={create.isRunning}
      isReady={isName}
      problem={create.problem}
      command={`devctl namespace create ${isName ? name.value : 'NAME'}`}
      onClose={onClose}
      onSubmit={() => void create.run()}
    >
      <Field
        label="Name"
        hint="Part of every host name, such as web-NAME, so keep it short"
        error={
          name.value !== '' && !isName
            ? 'Use lower-case letters, digits and dashes, with no dash at either end'
            : undefined
        }
        value={name.value}
        onValue={value => {
          name.value = value
        }}
        maxLength={40}
        autofocus
      />
    </FormDialog>
  )
}
