import { useSignal } from '@preact/signals'
import { addressOf } from '../../api/pages.ts'
import type { NewRun } from '../../api/runs.ts'
import { branchProblem, filePathProblem, readRepositoryUrl } from '../../rules/repository-url.ts'
import { useAction } from '../state/action.ts'
import { platform } from '../state/client.ts'
import { navigate } from '../state/navigate.ts'
import { useResource } from '../state/resource.ts'
import { commandLine } from '../state/shell-words.ts'
import { FormDialog } from './dialog.tsx'
import { Field, Select } from './field.tsx'

/** What a deploy begins with: what was deployed before. */
export interface DeployFrom {
  /** Absent: it is chosen. */
  readonly namespace?: string
  readonly environment?: string
  readonly repository?: string | undefined
  readonly branch?: string | undefined
  readonly file?: string | undefined
}

const ENVIRONMENT = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/** Deploys a repository from the cluster: asks which, and opens the page of the run. */
export function DeployForm({ from, onClose }: { readonly from: DeployFrom; readonly onClose: () => void }) {
  const [repository, branch, file] = [
    useSignal(from.repository ?? ''),
    useSignal(from.branch ?? ''),
    useSignal(from.file ?? ''),
  ]
  const typed = useSignal<string | undefined>(from.environment)
  const chosen = useSignal(from.namespace ?? '')
  const read = readRepositoryUrl(repository.value.trim())
  const repositoryError = repository.value.trim() === '' ? undefined : problemOf(read)
  const branchError = branch.value === '' ? undefined : branchProblem(branch.value)
  const fileError = file.value === '' ? undefined : filePathProblem(file.value)
  const environment = typed.value ?? (read.ok ? labelOf(read.repository.name) : '')
  const isName = ENVIRONMENT.test(environment) && environment.length <= 63
  const isReady =
    read.ok && repositoryError === undefined && !branchError && !fileError && isName && chosen.value !== ''
  const deploy = useAction(async () => {
    if (!read.ok) return
    const body: NewRun = {
      namespace: chosen.value,
      environment,
      action: 'deploy',
      repository: read.repository.url,
      ...(branch.value !== '' && { branch: branch.value }),
      ...(file.value !== '' && { file: file.value }),
    }
    const { id } = await platform.call('POST /runs', { body })
    onClose()
    navigate(addressOf('run', { id }))
  })
  return (
    <FormDialog
      title={from.environment === undefined ? 'Deploy from git' : `Deploy ${from.environment} again`}
      action="Deploy"
      isBusy={deploy.isRunning}
      isReady={isReady}
      problem={deploy.problem}
      command={commandLine(
        ...['devctl', 'pipeline', 'deploy', '--repository', read.ok ? read.repository.url : 'URL'],
        ...(branch.value === '' ? [] : ['--branch', branch.value]),
        ...(file.value === '' ? [] : ['--file', file.value]),
        ...['--name', environment === '' ? 'NAME' : environment],
        ...['--namespace', chosen.value === '' ? 'NAMESPACE' : chosen.value, '--wait'],
      )}
      onClose={onClose}
      onSubmit={() => void deploy.run()}
    >
      <Field
        label="Repository"
        hint="Its HTTPS address. A private one needs a git credential, of yours or of the namespace."
        error={repositoryError && `It cannot be cloned: ${repositoryError}`}
        value={repository.value}
        onValue={value => {
          repository.value = value
        }}
        placeholder="https://git.example.com/team/shop"
        maxLength={1000}
        autofocus
      />
      <div class="fields">
        <Field
          label="Branch or tag"
          hint="The main branch if it is empty."
          error={branchError && `Not a branch: ${branchError}`}
          value={branch.value}
          onValue={value => {
            branch.value = value
          }}
          maxLength={250}
        />
        <Field
          label="File"
          hint="As devctl finds it if it is empty."
          error={fileError && `Not a file: ${fileError}`}
          value={file.value}
          onValue={value => {
            file.value = value
          }}
          maxLength={500}
        />
      </div>
      <div class="fields">
        {from.namespace === undefined && (
          <NamespaceSelect
            value={chosen.value}
            onValue={value => {
              chosen.value = value
            }}
          />
        )}
        {from.environment === undefined && (
          <Field
            label="Name of the environment"
            hint="By default that of the repository."
            error={
              environment !== '' && !isName ? 'Lower-case letters, digits and dashes; no dash at an end' : undefined
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

function problemOf(read: ReturnType<typeof readRepositoryUrl>): string | undefined {
  if (!read.ok) return read.hint === undefined ? read.problem : `${read.problem}; ${read.hint.replaceAll('`', '')}`
  return read.repository.url.startsWith('ssh:') ? 'runs have no keys for ssh; write the HTTPS address' : undefined
}

/** As an environment is called after a repository. */
const labelOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 63)
    .replace(/-+$/, '')
