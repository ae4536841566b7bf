import { useSignal } from '@preact/signals'
import type { NamespaceDetails } from '../../../api/namespaces.ts'
import { Button } from '../../parts/forms/button.tsx'
import { FormDialog } from '../../parts/forms/dialog.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { type Read, refreshAll } from '../../state/resource.ts'
import { isAdmin } from '../../state/session.ts'
import { toast } from '../../state/toasts.ts'

interface SleepButtonProps {
  readonly namespace: NamespaceDetails
  readonly of: Read<NamespaceDetails>
}

/** Renders a button that puts a namespace to sleep, or wakes it if it is asleep. */
export function SleepButton({ namespace: { name, status, role }, of }: SleepButtonProps) {
  const isAsked = useSignal(false)
  const params = { ns: name }
  const wake = useAction(async () => {
    await platform.call('POST /namespaces/:ns/wake', { params })
    await of.refresh()
    refreshAll()
  })
  const sleep = useAction(async () => {
    const { kept } = await platform.call('POST /namespaces/:ns/sleep', { params })
    isAsked.value = false
    toast('good', `${name} is asleep`, kept.length > 0 ? kept.join('; ') : undefined)
    await of.refresh()
    refreshAll()
  })
  if (role === undefined && !isAdmin.value) return null
  if (status === 'Sleeping')
    return (
      <Button
        look="solid"
        icon="sun"
        isBusy={wake.isRunning}
        title={`devctl namespace wake ${name}`}
        onClick={async () => {
          if (!(await wake.run()) && wake.problem) toast('bad', wake.problem.message, wake.problem.hint)
        }}
      >
        Wake
      </Button>
    )
  if (status !== 'Active' || role === 'viewer') return null
  return (
    <>
      <Button
        icon="moon"
        onClick={() => {
          isAsked.value = true
        }}
      >
        Sleep
      </Button>
      {isAsked.value && (
        <FormDialog
          title={`Put ${name} to sleep?`}
          action="Sleep"
          isBusy={sleep.isRunning}
          problem={sleep.problem}
          command={`devctl namespace sleep ${name}`}
          onClose={() => {
            isAsked.value = false
          }}
          onSubmit={() => void sleep.run()}
        >
          <p class="soft">
            Its workloads stop, and its data stays. It wakes up when someone opens one of its pages or deploys to it.
          </p>
        </FormDialog>
      )}
    </>
  )
}
