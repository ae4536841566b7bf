import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { printable } from '../../../../compiler/values/printable.ts'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { useResource } from '../../state/resource.ts'
import { commandLine } from '../../state/shell-words.ts'
import { toast } from '../../state/toasts.ts'
import { Loading } from '../frame/loading.tsx'
import { Section } from '../frame/page.tsx'
import { Icon } from '../icon.tsx'
import { Empty } from '../problem.tsx'
import { Time } from '../time.tsx'
import { Button } from './button.tsx'
import { FormDialog } from './dialog.tsx'
import { Field } from './field.tsx'

interface CredentialsProps {
  /** Scope of the credentials: `user` or `namespace:NAME`. */
  readonly scope: string
  /** Options that select the scope of the credentials in the equivalent command. */
  readonly words: readonly string[]
  readonly about: ComponentChildren
}

/** Shows the forge logins with which runs clone repositories; passwords are never shown. */
export function Credentials({ scope, words, about }: CredentialsProps) {
  const found = useResource('GET /credentials/:scope', { params: { scope } })
  /** Host and user of the credential in the dialog; empty strings for a new one. */
  const setting = useSignal<readonly [host: string, user: string] | undefined>(undefined)
  const removing = useSignal<string | undefined>(undefined)
  const done = () => {
    setting.value = undefined
    removing.value = undefined
  }
  const refresh = () => void found.refresh()
  return (
    <Section
      title="Git credentials"
      about={about}
      actions={
        <Button
          icon="plus"
          onClick={() => {
            setting.value = ['', '']
          }}
        >
          Add credential
        </Button>
      }
    >
      <Loading of={found}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="lock" title="No credentials yet">
              <p class="soft">Only private repositories need one.</p>
            </Empty>
          ) : (
            <ul class="list">
              {items.map(({ host, user, set, by }) => (
                <li key={host}>
                  <div class="row">
                    <Icon name="lock" />
                    <span class="row-main block">
                      <span class="strong cut">{host}</span>
                      <span class="soft">
                        user {printable(user)}, set <Time at={set} /> by {by.login}
                      </span>
                    </span>
                    <Button
                      aria-label={`Update the credential for ${host}`}
                      onClick={() => {
                        setting.value = [host, user]
                      }}
                    >
                      Update
                    </Button>
                    <Button
                      look="ghost"
                      icon="trash"
                      aria-label={`Remove the credential for ${host}`}
                      title={`Remove the credential for ${host}`}
                      onClick={() => {
                        removing.value = host
                      }}
                    />
                  </div>
                </li>
              ))}
            </ul>
          )
        }
      </Loading>
      {setting.value && (
        <SetCredential scope={scope} words={words} of={setting.value} onClose={done} onDone={refresh} />
      )}
      {removing.value !== undefined && (
        <RemoveCredential scope={scope} words={words} host={removing.value} onClose={done} onDone={refresh} />
      )}
    </Section>
  )
}

interface ChangeProps extends Pick<CredentialsProps, 'scope' | 'words'> {
  readonly onClose: () => void
  readonly onDone: () => void
}

/** Pattern of a host with an optional port. */
const HOST = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/i

function SetCredential({
  scope,
  words,
  of: [given, known],
  onClose,
  onDone,
}: ChangeProps & { readonly of: readonly [host: string, user: string] }) {
  const [host, user, password] = [useSignal(given), useSignal(known), useSignal('')]
  const isHost = HOST.test(host.value)
  const login = user.value.trim() || 'git'
  const set = useAction(async () => {
    const params = { scope, host: host.value.toLowerCase() }
    await platform.call('PUT /credentials/:scope/:host', { params, body: { user: login, password: password.value } })
    toast('good', `Saved the credential for ${host.value}`)
    onDone()
    onClose()
  })
  return (
    <FormDialog
      title={given === '' ? 'Add Git credential' : `Update the credential for ${given}`}
      action="Save"
      isBusy={set.isRunning}
      isReady={isHost && password.value !== ''}
      problem={set.problem}
      command={commandLine(
        ...['devctl', 'credentials', 'set', isHost ? host.value.toLowerCase() : 'HOST'],
        ...['--login', login, ...words],
      )}
      onClose={onClose}
      onSubmit={() => void set.run()}
    >
      {given === '' && (
        <Field
          label="Host"
          hint="Host of the repositories, with its port if it has one"
          error={host.value !== '' && !isHost ? 'Enter only the host, such as git.example.com' : undefined}
          value={host.value}
          onValue={value => {
            host.value = value
          }}
          placeholder="git.example.com"
          maxLength={100}
          autofocus
        />
      )}
      <Field
        label="User"
        hint="Default: git, which forges accept with a token"
        value={user.value}
        onValue={value => {
          user.value = value
        }}
        maxLength={100}
        autofocus={given !== ''}
      />
      <Field
        label="Password or token"
        hint="Read access is enough. It is not shown again."
        value={password.value}
        onValue={value => {
          password.value = value
        }}
        isSecret
        autocomplete="new-password"
        maxLength={4096}
      />
    </FormDialog>
  )
}

function RemoveCredential({ scope, words, host, onClose, onDone }: ChangeProps & { readonly host: string }) {
  const remove = useAction(async () => {
    await platform.call('DELETE /credentials/:scope/:host', { params: { scope, host } })
    toast('good', `Removed the credential for ${host}`)
    onDone()
    onClose()
  })
  return (
    <FormDialog
      title={`Remove the credential for ${host}?`}
      action="Remove"
      isDanger
      isBusy={remove.isRunning}
      problem={remove.problem}
      command={commandLine('devctl', 'credentials', 'unset', host, ...words)}
      onClose={onClose}
      onSubmit={() => void remove.run()}
    >
      <p class="soft">Runs no longer use it. It stays valid on the forge until you revoke it there.</p>
    </FormDialog>
  )
}
