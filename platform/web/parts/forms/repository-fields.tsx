import { type Signal, useSignal } from '@preact/signals'
import {
  branchProblem,
  filePathProblem,
  type ReadRepositoryUrl,
  readRepositoryUrl,
} from '../../../rules/repository-url.ts'
import { Field } from './field.tsx'

/** Initial values of a form for a repository. */
export interface RepositoryFrom {
  readonly repository?: string | undefined
  readonly branch?: string | undefined
  readonly file?: string | undefined
}

/** Values that the user has entered into a form for a repository. */
export interface TypedRepository {
  readonly repository: Signal<string>
  readonly branch: Signal<string>
  readonly file: Signal<string>
  readonly read: ReadRepositoryUrl
  readonly errors: Readonly<Record<'repository' | 'branch' | 'file', string | undefined>>
  /** True if the values are sufficient to start a run. */
  readonly isReady: boolean
  /** The values for the body of a request. */
  readonly body: { readonly repository: string; readonly branch?: string; readonly file?: string }
  /** The values as options of the equivalent command. */
  readonly words: readonly string[]
}

/** Holds the repository, branch and file that a form asks for. */
export function useRepository(from: RepositoryFrom): TypedRepository {
  const repository = useSignal(from.repository ?? '')
  const branch = useSignal(from.branch ?? '')
  const file = useSignal(from.file ?? '')
  const read = readRepositoryUrl(repository.value.trim())
  const errors = {
    repository: repository.value.trim() === '' ? undefined : problemOf(read),
    branch: branch.value === '' ? undefined : branchProblem(branch.value),
    file: file.value === '' ? undefined : filePathProblem(file.value),
  }
  const url = read.ok ? read.repository.url : ''
  return {
    repository,
    branch,
    file,
    read,
    errors,
    isReady: read.ok && Object.values(errors).every(one => one === undefined),
    body: {
      repository: url,
      ...(branch.value !== '' && { branch: branch.value }),
      ...(file.value !== '' && { file: file.value }),
    },
    words: [
      ...['--repository', url || 'URL'],
      ...(branch.value === '' ? [] : ['--branch', branch.value]),
      ...(file.value === '' ? [] : ['--file', file.value]),
    ],
  }
}

/** Renders the fields for a repository, a branch and a file. */
export const RepositoryFields = ({ of }: { readonly of: TypedRepository }) => (
  <>
    <AddressField
      of={of}
      hint="HTTPS address. Private repositories need a Git credential of yours or of the namespace."
    />
    <div class="fields">
      <Field
        label="Branch or tag"
        hint="Leave empty for the default branch"
        error={of.errors.branch && `Not a valid branch: ${of.errors.branch}`}
        value={of.branch.value}
        onValue={value => {
          of.branch.value = value
        }}
        maxLength={250}
      />
      <FileField of={of} />
    </div>
  </>
)

interface AddressFieldProps {
  readonly of: TypedRepository
  readonly hint: string
}

/** Renders the field for the URL of the repository; `hint` describes the access that it requires. */
export const AddressField = ({ of: { repository, errors }, hint }: AddressFieldProps) => (
  <Field
    label="Repository"
    hint={hint}
    error={errors.repository && `Cannot be cloned: ${errors.repository}`}
    value={repository.value}
    onValue={value => {
      repository.value = value
    }}
    placeholder="https://git.example.com/team/shop"
    maxLength={1000}
    autofocus
  />
)

/** Renders the field for the path of the manifest or Compose file in the repository. */
export const FileField = ({ of: { file, errors } }: { readonly of: TypedRepository }) => (
  <Field
    label="Compose file"
    hint="Leave empty to find it automatically"
    error={errors.file && `Not a valid path: ${errors.file}`}
    value={file.value}
    onValue={value => {
      file.value = value
    }}
    maxLength={500}
  />
)

function problemOf(read: ReadRepositoryUrl): string | undefined {
  if (!read.ok) return read.hint === undefined ? read.problem : `${read.problem}; ${read.hint.replaceAll('`', '')}`
  return read.repository.url.startsWith('ssh:') ? 'runs have no SSH keys; use the HTTPS address' : undefined
}
