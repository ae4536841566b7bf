import { useSignal } from '@preact/signals'
import type { NewHook, Webhook } from '../../../api/hooks.ts'
import { isPrefix as isPrefixName } from '../../../rules/accounts/ci-trust.ts'
import type { PreviewScope } from '../../../rules/previews/previews.ts'
import { CopyBox } from '../../parts/copy.tsx'
import { Button } from '../../parts/forms/button.tsx'
import { Dialog, FormDialog } from '../../parts/forms/dialog.tsx'
import { Field, Select } from '../../parts/forms/field.tsx'
import { ScopeField } from '../../parts/forms/preview-scope.tsx'
import { AddressField, FileField, useRepository } from '../../parts/forms/repository-fields.tsx'
import { shortRepository } from '../../parts/logs/runs.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { commandLine } from '../../state/shell-words.ts'
import { toast } from '../../state/toasts.ts'

/** Webhook that the user has to add at the forge, with its secret, which is shown only once. */
export interface MadeWebhook {
  readonly hook: Webhook
  readonly secret: string
}

const CREATE = [
  ['yes', 'Create it for me'],
  ['no', 'Add it myself'],
] as const

const FORKS = [
  ['approve', 'Wait for approval'],
  ['sandbox', 'Deploy without variables'],
  ['never', 'Do not deploy'],
] as const
const FORGES = [
  ['', 'Detect from the host'],
  ['github', 'GitHub'],
  ['gitlab', 'GitLab'],
  ['gitea', 'Gitea'],
] as const

interface NewWebhookProps {
  readonly onClose: () => void
  /** Called after the creation. `byHand` is set if the user has to add the webhook at the forge. */
  readonly onMade: (byHand: MadeWebhook | undefined) => void
}

export function NewWebhook({ onClose, onMade }: NewWebhookProps) {
  const source = useRepository({})
  const [token, prefix] = [useSignal(''), useSignal('')]
  const forge = useSignal<(typeof FORGES)[number][0]>('')
  const forks = useSignal<(typeof FORKS)[number][0]>('approve')
  const create = useSignal<(typeof CREATE)[number][0]>('yes')
  const scope = useSignal<PreviewScope>('personal')
  const isPrefix = prefix.value === '' || isPrefixName(prefix.value)
  const { repository, file } = source.body
  // Options that have their default value are left out.
  const options: Pick<NewHook, 'forge' | 'forks' | 'scope' | 'prefix' | 'file'> = {
    ...(forge.value !== '' && { forge: forge.value }),
    ...(forks.value !== 'approve' && { forks: forks.value }),
    ...(scope.value !== 'personal' && { scope: scope.value }),
    ...(prefix.value !== '' && { prefix: prefix.value }),
    ...(file !== undefined && { file }),
  }
  const add = useAction(async () => {
    const body = { repository, token: token.value, ...options, ...(create.value === 'yes' && { create: true }) }
    const { hook, secret } = await platform.call('POST /hooks', { body })
    if (secret === undefined) toast('good', `${shortRepository(hook.repository)} has a webhook`)
    onMade(secret === undefined ? undefined : { hook, secret })
  })
  return (
    <FormDialog
      title="Add webhook"
      action="Add"
      isBusy={add.isRunning}
      isReady={source.isReady && token.value !== '' && isPrefix}
      problem={add.problem}
      command={commandLine(
        ...['devctl', 'preview', 'hook', 'add', repository || 'URL'],
        ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
        ...(create.value === 'yes' ? ['--create'] : []),
      )}
      onClose={onClose}
      onSubmit={() => void add.run()}
    >
      <AddressField of={source} hint="HTTPS address. Each pull or merge request gets a preview." />
      <Field
        label="Access token"
        hint={
          create.value === 'yes'
            ? 'From an administrator of the repository. It is not shown again.'
            : 'From someone with write access to the repository. It is not shown again.'
        }
        value={token.value}
        onValue={value => {
          token.value = value
        }}
        isSecret
        autocomplete="new-password"
        maxLength={4096}
      />
      <div class="fields">
        <Select
          label="Webhook in the repository"
          value={create.value}
          options={CREATE}
          onValue={value => {
            create.value = value
          }}
        />
        <Select
          label="Pull requests from forks"
          value={forks.value}
          options={FORKS}
          onValue={value => {
            forks.value = value
          }}
        />
        <Select
          label="Forge"
          value={forge.value}
          options={FORGES}
          onValue={value => {
            forge.value = value
          }}
        />
        <Field
          label="Name prefix"
          hint="Default: the name of the repository"
          error={isPrefix ? undefined : 'Use lower-case letters, digits and dashes, with a dash at the end: shop-'}
          value={prefix.value}
          onValue={value => {
            prefix.value = value
          }}
          maxLength={31}
        />
        <FileField of={source} />
        <ScopeField label="Visible to" scope={scope} />
      </div>
    </FormDialog>
  )
}

interface AddedWebhookProps {
  readonly made: MadeWebhook
  readonly onClose: () => void
}

/** Shows the values that the user enters in the settings of the repository at the forge. */
export const AddedWebhook = ({ made: { hook, secret }, onClose }: AddedWebhookProps) => (
  <Dialog title="Add the webhook to the repository" onClose={onClose}>
    <p class="soft">
      Add a webhook with these values in the settings of {shortRepository(hook.repository)}. The secret is not shown
      again.
    </p>
    <p class="strong">URL</p>
    <CopyBox lines={[hook.address]} label="URL" />
    <p class="strong">Secret</p>
    <CopyBox lines={[secret]} label="secret" />
    <dl class="facts">
      <dt>Content type</dt>
      <dd>
        <code>application/json</code>
      </dd>
      <dt>Events</dt>
      <dd>{hook.events}</dd>
    </dl>
    <div class="dialog-actions">
      <Button look="solid" onClick={onClose}>
        Done
      </Button>
    </div>
  </Dialog>
)
