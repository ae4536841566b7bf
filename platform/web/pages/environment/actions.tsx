import { useSignal } from '@preact/signals'
import type { EnvironmentDetails } from '../../../api/environments.ts'
import { addressOf } from '../../../api/pages.ts'
import { Button } from '../../parts/forms/button.tsx'
import { DeployForm, type DeployFrom } from '../../parts/forms/deploy-form.tsx'
import { FormDialog } from '../../parts/forms/dialog.tsx'
import { Field, Switch } from '../../parts/forms/field.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { navigate } from '../../state/navigate.ts'
import { useResource } from '../../state/resource.ts'
import { me } from '../../state/session.ts'
import { commandLine } from '../../state/shell-words.ts'

interface ActionsProps {
  readonly environment: EnvironmentDetails
  /** Role of the current user in the namespace. */
  readonly role: string | undefined
}

/** Shows the actions on an environment to users who may deploy there. */
export function EnvironmentActions({ environment, role }: ActionsProps) {
  const { namespace: ns, name } = environment
  const open = useSignal<'deploy' | 'destroy' | undefined>(undefined)
  const runs = useResource('GET /runs', { query: { namespace: ns, environment: name } })
  if (role !== 'owner' && role !== 'developer') return null
  const close = () => {
    open.value = undefined
  }
  return (
    <>
      <a class="button plain" href={addressOf('runs', { ns })}>
        <span>Runs</span>
      </a>
      <Button
        icon="trash"
        onClick={() => {
          open.value = 'destroy'
        }}
      >
        Destroy
      </Button>
      <Button
        icon="refresh"
        onClick={() => {
          open.value = 'deploy'
        }}
      >
        Redeploy
      </Button>
      {open.value === 'deploy' && (
        <DeployForm from={{ namespace: ns, environment: name, ...sourceOf() }} onClose={close} />
      )}
      {open.value === 'destroy' && <Destroy ns={ns} name={name} onClose={close} />}
    </>
  )

  /**
   * Returns the source of the current user's last deploy, otherwise the source in the deploy record. The record comes
   * second, because any member of the namespace could have written it.
   */
  function sourceOf(): DeployFrom {
    const last = runs.state.value.data?.items.find(run => run.action === 'deploy' && run.user.id === me.value?.id)
    if (last) return { repository: last.repository, branch: last.branch, file: last.file }
    const { deployed, source } = environment
    const repository = deployed?.repository ?? source?.repository
    // A folder that is not in a repository has no URL.
    return repository?.includes('/')
      ? { repository: `https://${repository}`, branch: deployed?.branch, file: source?.file }
      : {}
  }
}

function Destroy({ ns, name, onClose }: { readonly ns: string; readonly name: string; readonly onClose: () => void }) {
  const typed = useSignal('')
  const volumes = useSignal(false)
  const destroy = useAction(async () => {
    const { id } = await platform.call('POST /runs', {
      body: { namespace: ns, environment: name, action: 'destroy', ...(volumes.value && { volumes: true }) },
    })
    onClose()
    navigate(addressOf('run', { id }))
  })
  return (
    <FormDialog
      title={`Destroy ${name}?`}
      action="Destroy"
      isDanger
      isBusy={destroy.isRunning}
      isReady={typed.value === name}
      problem={destroy.problem}
      command={commandLine(
        ...['devctl', 'pipeline', 'destroy', '--name', name, '--namespace', ns, '--wait'],
        volumes.value ? '--volumes' : undefined,
      )}
      onClose={onClose}
      onSubmit={() => void destroy.run()}
    >
      <p class="soft">
        A run in the cluster deletes everything that was deployed. Volumes stay, unless you delete them, too.
      </p>
      <Switch
        label="Delete volumes"
        hint="Deletes PersistentVolumeClaims and their data. This cannot be undone."
        isOn={volumes.value}
        onChange={isOn => {
          volumes.value = isOn
        }}
      />
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
