import { useSignal } from '@preact/signals'
import { printable } from '../../../compiler/values/printable.ts'
import { addressOf } from '../../api/pages.ts'
import type { Preview } from '../../api/previews.ts'
import type { PreviewScope } from '../../rules/previews/previews.ts'
import { Command } from '../parts/copy.tsx'
import { Button, NewButton } from '../parts/forms/button.tsx'
import { FormDialog } from '../parts/forms/dialog.tsx'
import { Field } from '../parts/forms/field.tsx'
import { ScopeField } from '../parts/forms/preview-scope.tsx'
import { RepositoryFields, useRepository } from '../parts/forms/repository-fields.tsx'
import { Loading, SkeletonRows } from '../parts/frame/loading.tsx'
import { Page, Section } from '../parts/frame/page.tsx'
import { isWebAddress, OutsideLink } from '../parts/link.tsx'
import { shortRepository } from '../parts/logs/runs.tsx'
import { AskAboutPreviews, runningIn, stateOfNamespace } from '../parts/namespace-state.tsx'
import { Empty } from '../parts/problem.tsx'
import { State, Tag } from '../parts/state.tsx'
import { Time } from '../parts/time.tsx'
import { useAction } from '../state/action.ts'
import { platform } from '../state/client.ts'
import { find } from '../state/find.ts'
import { navigate } from '../state/navigate.ts'
import { refreshAll, useResource } from '../state/resource.ts'
import { commandLine } from '../state/shell-words.ts'
import { toast } from '../state/toasts.ts'
import { Approve, Pulls, type ShownPull } from './webhooks/pulls.tsx'
import { PreviewTabs } from './webhooks/tabs.tsx'

/** Polling interval in milliseconds. */
const EVERY = 5_000
/** Maximum number of public URLs in a row; the page of the preview has all. */
const SHOWN_URLS = 2

/**
 * Shows previews of branches with their state, source and public URLs, and above them the pull requests of forks that
 * are waiting for an approval.
 */
export function Previews() {
  const previews = useResource('GET /previews', { query: { urls: 'true' } }, EVERY)
  // Polled at the interval of the webhooks page, which explains it.
  const hooks = useResource('GET /hooks', {}, 30_000)
  const { data: known, problem: unknown } = hooks.state.value
  const waiting = known?.items.flatMap(({ pulls }) => pulls.filter(({ isWaiting }) => isWaiting)) ?? []
  // The user approves the same commit again to retry a failed deploy of a fork.
  const deployed = new Map(
    known?.items.flatMap(({ pulls }) =>
      pulls.filter(({ commit, deployed }) => commit === deployed).map(one => [one.preview, one] as const),
    ),
  )
  const retrying = useSignal<ShownPull | undefined>(undefined)
  const isNew = useSignal(false)
  const removing = useSignal<string | undefined>(undefined)
  const search = useSignal('')
  return (
    <Page title="Previews" tabs={<PreviewTabs />} actions={<NewButton isOpen={isNew}>New preview</NewButton>}>
      {waiting.length > 0 && (
        <Section
          title="Waiting for approval"
          about="Commits from forks are deployed once someone with write access approves them."
        >
          <Pulls pulls={waiting} onChange={() => void hooks.refresh()} />
        </Section>
      )}
      <Loading of={previews}>
        {({ items }) =>
          // Waits for both responses, so that nothing moves when the second one arrives.
          !known && !unknown ? (
            <SkeletonRows />
          ) : items.length === 0 ? (
            <Empty icon="branch" title="No previews yet">
              <p class="soft">A preview deploys a branch to a namespace of its own.</p>
            </Empty>
          ) : (
            <>
              <AskAboutPreviews previews={items} every={EVERY} />
              <Field
                label="Filter"
                value={search.value}
                onValue={value => {
                  search.value = value
                }}
                placeholder="Name, branch, repository, owner or label"
              />
              <List
                items={find(items.map(toFindable), search.value).map(one => one.preview)}
                pulls={deployed}
                onRetry={pull => {
                  retrying.value = pull
                }}
                onRemove={name => {
                  removing.value = name
                }}
              />
            </>
          )
        }
      </Loading>
      <Section title="From your laptop or CI" about="Run this in a checkout to deploy its current branch, as pushed.">
        <Command lines={['devctl preview deploy --wait']} />
      </Section>
      {isNew.value && (
        <NewPreview
          onClose={() => {
            isNew.value = false
          }}
        />
      )}
      {retrying.value && (
        <Approve
          pull={retrying.value}
          onChange={refreshAll}
          onClose={() => {
            retrying.value = undefined
          }}
        />
      )}
      {removing.value !== undefined && (
        <Destroy
          name={removing.value}
          onClose={() => {
            removing.value = undefined
          }}
          onDone={() => void previews.refresh()}
        />
      )}
    </Page>
  )
}

const toFindable = (preview: Preview) => ({
  preview,
  text: preview.name,
  also: [preview.branch, preview.repository, preview.owner.login, preview.status, ...preview.labels].join(' '),
})

const List = ({
  items,
  pulls,
  onRetry,
  onRemove,
}: {
  readonly items: readonly Preview[]
  /** Pull requests whose newest commit was deployed. The keys are the names of their previews. */
  readonly pulls: ReadonlyMap<string, ShownPull>
  readonly onRetry: (pull: ShownPull) => void
  readonly onRemove: (name: string) => void
}) =>
  items.length === 0 ? (
    <Empty icon="search" title="No matching previews" />
  ) : (
    <ul class="list">
      {items.map(one => {
        const pull = one.isUntrusted && one.status === 'Failed' ? pulls.get(one.name) : undefined
        const retry = pull && (() => onRetry(pull))
        return <PreviewRow key={one.name} preview={one} onRetry={retry} onRemove={() => onRemove(one.name)} />
      })}
    </ul>
  )

interface PreviewRowProps {
  readonly preview: Preview
  /** Repeats the last deploy of the preview; undefined if it cannot be repeated on this page. */
  readonly onRetry: (() => void) | undefined
  readonly onRemove: () => void
}

const PreviewRow = ({ preview, onRetry, onRemove }: PreviewRowProps) => {
  const { name, status, scope, owner, role, repository, branch, sourceUrl, labels } = preview
  const { lastActive, expires, isUntrusted, deleteProblem, deleteWaits, urls = [] } = preview
  return (
    <li class="row environment preview">
      <span class="row-main block">
        <span class="cut">
          <a class="row-name stretched" href={addressOf('namespace', { ns: name })}>
            {name}
          </a>{' '}
          {scope === 'global' && <Tag>everyone</Tag>}
          {isUntrusted && <Tag tone="warn">fork</Tag>}
          {labels.map(one => (
            <Tag key={one}>{one}</Tag>
          ))}
        </span>
        <span class="soft cut">
          {shortRepository(repository)} {branch === undefined ? 'default branch' : <code>{printable(branch)}</code>}
        </span>
      </span>
      <span class="endpoints">
        {urls.slice(0, SHOWN_URLS).map(one => (
          <OutsideLink key={one} href={one} />
        ))}
        {urls.length > SHOWN_URLS && <span class="soft">and {urls.length - SHOWN_URLS} more</span>}
        {sourceUrl !== undefined && <Source url={sourceUrl} />}
      </span>
      <span class="row-state">
        <State {...stateOfNamespace(status, role === undefined ? undefined : runningIn(name))} />
        <span class="soft">
          {owner.login} ·{' '}
          {expires === undefined ? (
            <Time at={lastActive} />
          ) : (
            <>
              expires <Time at={expires} />
            </>
          )}
        </span>
      </span>
      <span class="above">
        {onRetry && (
          <Button
            look="ghost"
            icon="refresh"
            title={`Deploy ${name} again`}
            aria-label={`Deploy ${name} again`}
            onClick={onRetry}
          />
        )}
        {role === 'owner' && status !== 'Deleting' && (
          <Button
            look="ghost"
            icon="trash"
            aria-label={`Destroy ${name}`}
            title={`Destroy ${name}`}
            onClick={onRemove}
          />
        )}
      </span>
      {deleteProblem !== undefined && <p class="row-note">{printable(deleteProblem)}</p>}
      {deleteWaits !== undefined && <p class="row-note">Still being deleted: {printable(deleteWaits)}</p>}
    </li>
  )
}

/** Renders a link to the pull request of a preview, as `#7` if its URL ends with this number. */
function Source({ url }: { readonly url: string }) {
  const number = isWebAddress(url) ? /\/(\d+)\/?$/.exec(new URL(url).pathname)?.[1] : undefined
  return <OutsideLink href={url}>{number === undefined ? undefined : `#${number}`}</OutsideLink>
}

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

function NewPreview({ onClose }: { readonly onClose: () => void }) {
  const source = useRepository({})
  const name = useSignal('')
  const scope = useSignal<PreviewScope>('personal')
  const isName = name.value === '' || NAME.test(name.value)
  const deploy = useAction(async () => {
    const body = { ...source.body, scope: scope.value, ...(name.value !== '' && { name: name.value }) }
    const made = await platform.call('POST /previews', { body })
    refreshAll()
    onClose()
    navigate(made.run ? addressOf('run', { id: made.run.id }) : addressOf('namespace', { ns: made.name }))
  })
  return (
    <FormDialog
      title="New preview"
      action="Deploy"
      isBusy={deploy.isRunning}
      isReady={source.isReady && isName}
      problem={deploy.problem}
      command={commandLine(
        ...['devctl', 'preview', 'deploy', name.value === '' ? undefined : name.value, ...source.words],
        ...(scope.value === 'global' ? ['--scope', 'global'] : []),
        '--wait',
      )}
      onClose={onClose}
      onSubmit={() => void deploy.run()}
    >
      <RepositoryFields of={source} />
      <div class="fields">
        <Field
          label="Name"
          hint="Default: the names of the repository and the branch"
          error={isName ? undefined : 'Use lower-case letters, digits and dashes, with no dash at either end'}
          value={name.value}
          onValue={value => {
            name.value = value
          }}
          maxLength={40}
        />
        <ScopeField label="Visible to" scope={scope} />
      </div>
    </FormDialog>
  )
}

function Destroy({
  name,
  onClose,
  onDone,
}: {
  readonly name: string
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const destroy = useAction(async () => {
    await platform.call('DELETE /previews/:name', { params: { name }, query: {} })
    toast('good', `Destroying ${name}`)
    onDone()
    onClose()
  })
  return (
    <FormDialog
      title={`Destroy ${name}?`}
      action="Destroy"
      isDanger
      isBusy={destroy.isRunning}
      problem={destroy.problem}
      command={commandLine('devctl', 'preview', 'destroy', name)}
      onClose={onClose}
      onSubmit={() => void destroy.run()}
    >
      <p class="soft">Everything in it is deleted, including its data. To recreate it, deploy the branch again.</p>
    </FormDialog>
  )
}
