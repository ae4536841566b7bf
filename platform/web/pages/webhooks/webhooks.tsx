import { useSignal } from '@preact/signals'
import { printable } from '../../../../compiler/values/printable.ts'
import type { Webhook } from '../../../api/hooks.ts'
import { Button, NewButton } from '../../parts/forms/button.tsx'
import { FormDialog } from '../../parts/forms/dialog.tsx'
import { Loading } from '../../parts/frame/loading.tsx'
import { Page, Section } from '../../parts/frame/page.tsx'
import { shortRepository } from '../../parts/logs/runs.tsx'
import { Empty } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { useResource } from '../../state/resource.ts'
import { me } from '../../state/session.ts'
import { commandLine } from '../../state/shell-words.ts'
import { toast } from '../../state/toasts.ts'
import { LastDelivery } from './last-delivery.tsx'
import { AddedWebhook, type MadeWebhook, NewWebhook } from './new-webhook.tsx'
import { Pulls } from './pulls.tsx'
import { PreviewTabs } from './tabs.tsx'

/**
 * Polling interval for the webhooks, in milliseconds. No stream reports pull requests: a forge sends an event a few
 * times an hour, and a stream would keep a connection open for that. A user who returns to the tab gets the current
 * state immediately.
 */
const EVERY = 30_000

/**
 * Shows webhooks. The pull requests of a repository with a webhook get previews. Users see their own webhooks,
 * administrators see all.
 */
export function Webhooks() {
  const found = useResource('GET /hooks', {}, EVERY)
  const isNew = useSignal(false)
  const made = useSignal<MadeWebhook | undefined>(undefined)
  const removing = useSignal<Webhook | undefined>(undefined)
  const refresh = () => void found.refresh()
  return (
    <Page
      title="Previews"
      windowTitle="Webhooks"
      tabs={<PreviewTabs />}
      actions={<NewButton isOpen={isNew}>Add webhook</NewButton>}
    >
      <Loading of={found}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="branch" title="No webhooks yet">
              <p class="soft">
                With a webhook, each pull or merge request of a repository gets a preview until it is closed.
              </p>
            </Empty>
          ) : (
            items.map(one => (
              <One
                key={one.id}
                hook={one}
                onChange={refresh}
                onRemove={() => {
                  removing.value = one
                }}
              />
            ))
          )
        }
      </Loading>
      {isNew.value && (
        <NewWebhook
          onClose={() => {
            isNew.value = false
          }}
          onMade={one => {
            isNew.value = false
            made.value = one
            refresh()
          }}
        />
      )}
      {made.value && (
        <AddedWebhook
          made={made.value}
          onClose={() => {
            made.value = undefined
          }}
        />
      )}
      {removing.value && (
        <Remove
          hook={removing.value}
          onDone={refresh}
          onClose={() => {
            removing.value = undefined
          }}
        />
      )}
    </Page>
  )
}

/** Descriptions of the policies for pull requests from forks. */
const FORKS = {
  approve: 'wait for approval by someone with write access',
  sandbox: 'are deployed without variables and credentials',
  never: 'are not deployed',
}

interface OneProps {
  readonly hook: Webhook
  readonly onChange: () => void
  readonly onRemove: () => void
}

const One = ({ hook, onChange, onRemove }: OneProps) => {
  const { repository, prefix, forks, scope, owner, file, address, created, pulls } = hook
  const name = shortRepository(repository)
  return (
    <Section
      title={name}
      actions={
        <Button icon="trash" onClick={onRemove}>
          Remove
          <span class="hidden">
            {' '}
            the webhook {prefix} of {name}
          </span>
        </Button>
      }
    >
      <dl class="facts card">
        <dt>Previews</dt>
        <dd>
          <code>{prefix}pr-…</code> {scope === 'global' ? 'for everyone' : `for ${owner.login}`}
        </dd>
        <dt>Forks</dt>
        <dd>{FORKS[forks]}</dd>
        <dt>URL</dt>
        <dd>
          <code>{address}</code>
        </dd>
        {file !== undefined && (
          <>
            <dt>File</dt>
            <dd>
              <code>{file}</code>
            </dd>
          </>
        )}
        <dt>Last delivery</dt>
        <dd>
          <LastDelivery hook={hook} />
        </dd>
        <dt>Added</dt>
        <dd>
          <Time at={created} />
          {owner.id !== me.value?.id && ` by ${owner.login}`}
        </dd>
      </dl>
      {pulls.length === 0 ? (
        <p class="soft">No open pull requests yet.</p>
      ) : (
        <Pulls pulls={pulls} onChange={onChange} />
      )}
    </Section>
  )
}

interface RemoveProps {
  readonly hook: Webhook
  readonly onDone: () => void
  readonly onClose: () => void
}

function Remove({ hook: { id, repository, isCreated }, onDone, onClose }: RemoveProps) {
  const name = shortRepository(repository)
  const remove = useAction(async () => {
    const { left } = await platform.call('DELETE /hooks/:id', { params: { id } })
    if (left === undefined) toast('good', `Removed the webhook of ${name}`)
    else toast('bad', `Also delete the webhook in the settings of ${name}`, printable(left))
    onDone()
    onClose()
  })
  return (
    <FormDialog
      title={`Remove the webhook of ${name}?`}
      action="Remove"
      isDanger
      isBusy={remove.isRunning}
      problem={remove.problem}
      command={commandLine('devctl', 'preview', 'hook', 'remove', id)}
      onClose={onClose}
      onSubmit={() => void remove.run()}
    >
      <p class="soft">
        {isCreated
          ? 'Its previews stay, but pull requests no longer update them. The webhook is also deleted on the forge.'
          : 'Its previews stay, but pull requests no longer update them. Also delete the webhook and its token on the forge.'}
      </p>
    </FormDialog>
  )
}
