import { useSignal } from '@preact/signals'
import type { NamespaceDetails } from '../../../api/namespaces.ts'
import { addressOf } from '../../../api/pages.ts'
import { Button } from '../../parts/forms/button.tsx'
import { FormDialog } from '../../parts/forms/dialog.tsx'
import { Field, Switch } from '../../parts/forms/field.tsx'
import { PersonSelect } from '../../parts/forms/person-select.tsx'
import { Section } from '../../parts/frame/page.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { navigate } from '../../state/navigate.ts'
import { type Read, refreshAll, useResource } from '../../state/resource.ts'
import { isAdmin } from '../../state/session.ts'
import { commandLine } from '../../state/shell-words.ts'
import { toast } from '../../state/toasts.ts'
import { NamespaceFrame } from './frame.tsx'

/** Shows the settings of a namespace, and its irreversible actions. */
export function NamespaceSettings() {
  const open = useSignal<'delete' | 'transfer' | undefined>(undefined)
  const close = () => {
    open.value = undefined
  }
  return (
    <NamespaceFrame part="Settings">
      {(namespace, of) => {
        const mayChange = namespace.role === 'owner' || isAdmin.value
        return (
          <>
            <Section title="Inactivity">
              <Persistent namespace={namespace} of={of} mayChange={mayChange} />
            </Section>
            {mayChange && (
              <Section title="Danger zone" isDanger>
                <div class="list">
                  {isAdmin.value && (
                    <div class="row">
                      <span class="row-main block">
                        <span class="strong">Transfer ownership</span>
                        <span class="soft">Make someone else the owner of this namespace.</span>
                      </span>
                      <Button
                        onClick={() => {
                          open.value = 'transfer'
                        }}
                      >
                        Transfer
                      </Button>
                    </div>
                  )}
                  <div class="row">
                    <span class="row-main block">
                      <span class="strong">Delete this namespace</span>
                      <span class="soft">Everything in it is deleted, including its data. This cannot be undone.</span>
                    </span>
                    <Button
                      look="danger-plain"
                      icon="trash"
                      onClick={() => {
                        open.value = 'delete'
                      }}
                    >
                      Delete
                    </Button>
                  </div>
                </div>
              </Section>
            )}
            {open.value === 'delete' && <Delete namespace={namespace} onClose={close} />}
            {open.value === 'transfer' && <Transfer namespace={namespace} of={of} onClose={close} />}
          </>
        )
      }}
    </NamespaceFrame>
  )
}

interface InNamespace {
  readonly namespace: NamespaceDetails
  readonly of: Read<NamespaceDetails>
}

function Persistent({ namespace, of, mayChange }: InNamespace & { readonly mayChange: boolean }) {
  const change = useAction(async (isPersistent: boolean) => {
    of.put(await platform.call('PATCH /namespaces/:ns', { params: { ns: namespace.name }, body: { isPersistent } }))
  })
  return (
    <div class="card">
      <Switch
        label="Persistent"
        hint="Never put it to sleep or delete it because nobody uses it."
        isOn={namespace.isPersistent ?? false}
        isDisabled={!mayChange || change.isRunning}
        onChange={isOn => void change.run(isOn)}
      />
      {change.problem && <ProblemBox problem={change.problem} />}
    </div>
  )
}

function Delete({
  namespace: { name },
  onClose,
}: {
  readonly namespace: NamespaceDetails
  readonly onClose: () => void
}) {
  const typed = useSignal('')
  const remove = useAction(async () => {
    await platform.call('DELETE /namespaces/:ns', { params: { ns: name }, query: {} })
    toast('good', `Deleting ${name}`)
    refreshAll()
    navigate(addressOf('home'))
  })
  return (
    <FormDialog
      title={`Delete ${name}?`}
      action="Delete namespace"
      isDanger
      isBusy={remove.isRunning}
      isReady={typed.value === name}
      problem={remove.problem}
      command={`devctl namespace delete ${name}`}
      onClose={onClose}
      onSubmit={() => void remove.run()}
    >
      <p class="soft">Its workloads, volumes, variables and history are deleted. This cannot be undone.</p>
      <Field
        label={`Type ${name} to confirm`}
        value={typed.value}
        onValue={value => {
          typed.value = value
        }}
        autofocus
      />
    </FormDialog>
  )
}

function Transfer({ namespace, of, onClose }: InNamespace & { readonly onClose: () => void }) {
  const users = useResource('GET /users', {})
  const chosen = useSignal('')
  const others = (users.state.value.data?.items ?? []).filter(one => one.id !== namespace.owner.id)
  const user = others.find(one => one.id === chosen.value)
  const transfer = useAction(async () => {
    if (!user) return
    of.put(await platform.call('PATCH /namespaces/:ns', { params: { ns: namespace.name }, body: { owner: user.id } }))
    toast('good', `Transferred ${namespace.name} to ${user.login}`)
    onClose()
  })
  return (
    <FormDialog
      title={`Transfer ${namespace.name}?`}
      action="Transfer"
      isDanger
      isBusy={transfer.isRunning}
      isReady={user !== undefined}
      problem={transfer.problem}
      command={commandLine('devctl', 'namespace', 'share', namespace.name, user?.login ?? 'USER', '--role', 'owner')}
      onClose={onClose}
      onSubmit={() => void transfer.run()}
    >
      <p class="soft">It counts towards the limit of the new owner. {namespace.owner.login} stays a developer.</p>
      <PersonSelect
        label="New owner"
        people={others}
        selected={user}
        onSelect={id => {
          chosen.value = id
        }}
      />
    </FormDialog>
  )
}
