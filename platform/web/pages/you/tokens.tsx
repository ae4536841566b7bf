import { useSignal } from '@preact/signals'
import { printable } from '../../../../compiler/values/printable.ts'
import type { Granted } from '../../../api/common.ts'
import type { TokenInfo } from '../../../api/me.ts'
import { CopyBox, SameOnCommandLine } from '../../parts/copy.tsx'
import { Button } from '../../parts/forms/button.tsx'
import { Dialog, FormDialog } from '../../parts/forms/dialog.tsx'
import { Field, Select } from '../../parts/forms/field.tsx'
import { Loading } from '../../parts/frame/loading.tsx'
import { Section } from '../../parts/frame/page.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Empty } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { useResource } from '../../state/resource.ts'
import { DeleteToken } from './delete-token.tsx'
import { YouFrame } from './frame.tsx'

/** Shows the user's tokens for programs. */
export function Tokens() {
  const tokens = useResource('GET /me/tokens', {})
  const isNew = useSignal(false)
  const made = useSignal<Granted | undefined>(undefined)
  const begin = () => {
    isNew.value = true
  }
  return (
    <YouFrame part="Tokens">
      <Section
        title="Tokens"
        about="For programs that act as you, with DEVCTL_URL and DEVCTL_TOKEN. All tokens expire."
        actions={
          <Button look="solid" icon="plus" onClick={begin}>
            New token
          </Button>
        }
      >
        <Loading of={tokens}>
          {({ items }) => {
            const found = items.filter(({ kind }) => kind === 'api')
            if (found.length === 0)
              return (
                <Empty icon="key" title="No tokens yet">
                  <p class="soft">Trusted CI jobs need none. For other programs, create one.</p>
                </Empty>
              )
            return (
              <ul class="list">
                {found.map(one => (
                  <TokenRow key={one.id} token={one} onDeleted={() => void tokens.refresh()} />
                ))}
              </ul>
            )
          }}
        </Loading>
      </Section>
      {isNew.value && (
        <NewToken
          onClose={() => {
            isNew.value = false
          }}
          onMade={token => {
            isNew.value = false
            made.value = token
            void tokens.refresh()
          }}
        />
      )}
      {made.value && (
        <ShownOnce
          granted={made.value}
          onClose={() => {
            made.value = undefined
          }}
        />
      )}
    </YouFrame>
  )
}

const TokenRow = ({ token, onDeleted }: { readonly token: TokenInfo; readonly onDeleted: () => void }) => (
  <li>
    <div class="row">
      <Icon name="key" />
      <span class="row-main block">
        <span class="strong">{printable(token.label)}</span>
        <span class="soft">
          Created <Time at={token.created} />,{' '}
          {token.lastUse === undefined ? (
            'never used'
          ) : (
            <>
              last used <Time at={token.lastUse} />
            </>
          )}
          , expires <Time at={token.expires} />
        </span>
      </span>
      <DeleteToken token={token} word="Delete" onDeleted={onDeleted} />
    </div>
  </li>
)

const LIFETIMES = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
] as const

function NewToken({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: (token: Granted) => void }) {
  const label = useSignal('')
  const days = useSignal<(typeof LIFETIMES)[number][0]>('30')
  const create = useAction(async () => {
    const body = { label: label.value.trim(), days: Number(days.value) }
    onMade(await platform.call('POST /me/tokens', { body }))
  })
  return (
    <FormDialog
      title="New token"
      action="Create"
      isBusy={create.isRunning}
      isReady={label.value.trim() !== ''}
      problem={create.problem}
      // No command creates a token, so this shows a command that uses it.
      command={`DEVCTL_URL=${location.origin} DEVCTL_TOKEN=… devctl deploy`}
      onClose={onClose}
      onSubmit={() => void create.run()}
    >
      <Field
        label="What is it for?"
        hint="Shown in the list of tokens"
        value={label.value}
        onValue={value => {
          label.value = value
        }}
        maxLength={60}
        placeholder="nightly tests"
        autofocus
      />
      <Select
        label="Expires after"
        value={days.value}
        options={LIFETIMES}
        onValue={value => {
          days.value = value
        }}
      />
    </FormDialog>
  )
}

const ShownOnce = ({ granted, onClose }: { readonly granted: Granted; readonly onClose: () => void }) => (
  <Dialog title="Copy your token now" onClose={onClose}>
    <p class="soft">
      It is not stored and not shown again. It expires <Time at={granted.expires} />.
    </p>
    <CopyBox lines={[granted.token]} label="token" />
    <p class="soft">Programs use it like this, without any other login:</p>
    <SameOnCommandLine command={`DEVCTL_URL=${location.origin} DEVCTL_TOKEN=… devctl deploy`} />
    <div class="dialog-actions">
      <Button look="solid" onClick={onClose}>
        Done
      </Button>
    </div>
  </Dialog>
)
