import { useSignal } from '@preact/signals'
import { addressOf } from '../../../api/pages.ts'
import { environmentOfRepository } from '../../../rules/environment-name.ts'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { navigate } from '../../state/navigate.ts'
import { useResource } from '../../state/resource.ts'
import { commandLine } from '../../state/shell-words.ts'
import { FormDialog } from './dialog.tsx'
import { Field, Select } from './field.tsx'
import { RepositoryFields, type RepositoryFrom, useRepository } from './repository-fields.tsx'

/** Initial values of the deploy form: the source of the previous deploy. */
export interface DeployFrom extends RepositoryFrom {
  /** Namespace to deploy to. If absent, the user chooses it. */
  readonly namespace?: string
  /** Name of the environment. If absent, the name of the repository, unless the user enters another one. */
  readonly environment?: string
}

const ENVIRONMENT = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/**
 * Renders the form to deploy a repository from the cluster. After the start of the deploy, opens the page of the run.
 */
export function DeployForm({ from, onClose }: { readonly from: DeployFrom; readonly onClose: () => void }) {
  const chosen = useSignal(from.namespace ?? '')
  const namespace = chosen.value
  const source = useRepository(from)
  const typed = useSignal<string | undefined>(from.environment)
  const environment = typed.value ?? (source.read.ok ? environmentOfRepository(source.read.repository.name) : '')
  const isName = ENVIRONMENT.test(environment) && environment.length <= 63
  const deploy = useAction(async () => {
    const body = { namespace, environment, action: 'deploy' as const, ...source.body }
    const { id } = await platform.call('POST /runs', { body })
    onClose()
    navigate(addressOf('run', { id }))
  })
  return (
    <FormDialog
      title={from.environment === undefined ? 'Deploy from Git' : `Redeploy ${from.environment}`}
      action="Deploy"
      isBusy={deploy.isRunning}
      isReady={source.isReady && isName && namespace !== ''}
      problem={deploy.problem}
      command={commandLine(
        ...['devctl', 'pipeline', 'deploy', ...source.words],
        ...[
          '--name',
          environment === '' ? 'NAME' : environment,
          '--namespace',
          namespace === '' ? 'NAMESPACE' : namespace,
          '--wait',
        ],
      )}
      onClose={onClose}
      onSubmit={() => void deploy.run()}
    >
      <RepositoryFields of={source} />
      <div class="fields">
        {from.namespace === undefined && (
          <NamespaceSelect
            value={namespace}
            onValue={value => {
              chosen.value = value
            }}
          />
        )}
        {from.environment === undefined && (
          <Field
            label="Environment"
            hint="Default: the name of the repository"
            error={
              environment !== '' && !isName
                ? 'Use lower-case letters, digits and dashes, with no dash at either end'
                : undefined
            }
            value={environment}
            onValue={value => {
              typed.value = value
            }}
            maxLength={63}
          />
        )}
      </div>
    </FormDialog>
  )
}

function NamespaceSelect({ value, onValue }: { readonly value: string; readonly onValue: (value: string) => void }) {
  const { data } = useResource('GET /namespaces', {}).state.value
  const own = (data?.items ?? []).filter(({ role }) => role === 'owner' || role === 'developer')
  return (
    <Select
      label="Namespace"
      value={value}
      options={[['', 'Choose a namespace'] as const, ...own.map(({ name }) => [name, name] as const)]}
      onValue={onValue}
    />
  )
}
