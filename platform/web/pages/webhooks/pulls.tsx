import { useSignal } from '@preact/signals'
import { printable } from '../../../../compiler/values/printable.ts'
import type { Webhook } from '../../../api/hooks.ts'
import { addressOf } from '../../../api/pages.ts'
import type { Preview } from '../../../api/previews.ts'
import { Button } from '../../parts/forms/button.tsx'
import { FormDialog } from '../../parts/forms/dialog.tsx'
import { OutsideLink } from '../../parts/link.tsx'
import { shortRepository } from '../../parts/logs/runs.tsx'
import { AskAboutPreviews, runningIn, stateOfNamespace } from '../../parts/namespace-state.tsx'
import { type ShownState, State, Tag } from '../../parts/state.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { commitPage } from '../../state/forge-pages.ts'
import { useResource } from '../../state/resource.ts'
import { commandLine } from '../../state/shell-words.ts'
import { toast } from '../../state/toasts.ts'

/** Pull or merge request that a webhook has reported. */
export type ShownPull = Webhook['pulls'][number]

/** Polling interval for the previews, in milliseconds. */
const EVERY = 30_000
/** Returns the short form of a commit hash, for display. An approval contains the full hash. */
const shortCommit = (commit: string): string => commit.slice(0, 7)

/**
 * Shows pull requests, each with the repository that its code comes from. If a pull request has a commit that is
 * waiting for an approval, shows a button that approves this commit.
 */
export function Pulls({ pulls, onChange }: { readonly pulls: readonly ShownPull[]; readonly onChange: () => void }) {
  // The request as it was when the user pressed the button, because they have not reviewed later commits.
  const approving = useSignal<ShownPull | undefined>(undefined)
  const previews = useResource('GET /previews', { query: { urls: 'true' } }, EVERY).state.value.data?.items
  const own = previews?.filter(({ name }) => pulls.some(({ preview }) => preview === name)) ?? []
  return (
    <>
      <AskAboutPreviews previews={own} every={EVERY} />
      <ul class="list">
        {pulls.map(one => (
          <PullRow
            key={one.preview}
            pull={one}
            preview={own.find(({ name }) => name === one.preview)}
            onApprove={() => {
              approving.value = one
            }}
          />
        ))}
      </ul>
      {approving.value && (
        <Approve
          pull={approving.value}
          onChange={onChange}
          onClose={() => {
            approving.value = undefined
          }}
        />
      )}
    </>
  )
}

interface PullRowProps {
  readonly pull: ShownPull
  /** The preview; undefined if it does not exist or is not visible to the user. */
  readonly preview: Preview | undefined
  readonly onApprove: () => void
}

const PullRow = ({ pull, preview: shown, onApprove }: PullRowProps) => {
  const { number, preview, page, title, trust, commit, isWaiting, deployed, problem } = pull
  return (
    <li class="row environment preview pull">
      <span class="row-main block">
        <span class="cut">
          {deployed === undefined ? (
            <span class="row-name">{preview}</span>
          ) : (
            <a class="row-name stretched" href={addressOf('namespace', { ns: preview })}>
              {preview}
            </a>
          )}{' '}
          {trust === 'fork' && <Tag tone="warn">fork</Tag>} {title !== undefined && printable(title)}
        </span>
        <span class="soft cut">
          <Origin pull={pull} />
        </span>
      </span>
      <span class="endpoints">
        <OutsideLink href={page}>#{number}</OutsideLink>
      </span>
      <span class="row-state">
        <State {...pullState(pull, shown && stateOfNamespace(shown.status, runningIn(shown.name)))} />
        <span class="soft">
          commit <code>{shortCommit(commit)}</code>
        </span>
      </span>
      {isWaiting && (
        <span class="above">
          <Button onClick={onApprove}>
            Approve {shortCommit(commit)}
            <span class="hidden"> for {preview}</span>
          </Button>
        </span>
      )}
      {problem !== undefined && <p class="row-note">{printable(problem)}</p>}
    </li>
  )
}

const Origin = ({ pull: { author, from, branch } }: { readonly pull: ShownPull }) => (
  <>
    {printable(author)}
    {from !== undefined && <> from {printable(shortRepository(from))}</>}
    {branch !== undefined && (
      <>
        {' '}
        <code>{printable(branch)}</code>
      </>
    )}
  </>
)

/**
 * Returns the state of the newest commit of a pull request. `preview` is the state of the preview for this pull
 * request, if known.
 */
export function pullState({ isWaiting, problem, deployed, commit }: ShownPull, preview?: ShownState): ShownState {
  if (isWaiting) return { tone: 'warn', icon: 'lock', word: 'Waiting for approval' }
  if (problem !== undefined) return { tone: 'bad', icon: 'warn', word: 'No preview' }
  if (deployed === commit) return preview ?? { tone: 'quiet', icon: 'check', word: 'Deploy started' }
  return { tone: 'busy', icon: 'clock', word: 'Pending' }
}

interface ApproveProps {
  readonly pull: ShownPull
  readonly onChange: () => void
  readonly onClose: () => void
}

/** Asks whether the user has reviewed the changes in a fork's commit, and approves the full commit hash. */
export function Approve({ pull, onChange, onClose }: ApproveProps) {
  const { number, preview, page, title, commit, from } = pull
  const approve = useAction(async () => {
    try {
      await platform.call('POST /previews/:name/approve', { params: { name: preview }, body: { commit } })
    } finally {
      // If the approval was too late, the user sees the current state.
      onChange()
    }
    toast('good', `Approved ${shortCommit(commit)}`, `Deploying ${preview}.`)
    onClose()
  })
  const commitAt = from === undefined ? undefined : commitPage({ repository: shortRepository(from), commit })
  return (
    <FormDialog
      title={`Approve ${shortCommit(commit)} of #${number}?`}
      action={`Approve ${shortCommit(commit)}`}
      isBusy={approve.isRunning}
      problem={approve.problem}
      command={commandLine('devctl', 'preview', 'approve', preview, '--commit', commit)}
      onClose={onClose}
      onSubmit={() => void approve.run()}
    >
      <p>
        This commit is from a fork and will run in your cluster. Review all of its changes first:{' '}
        <OutsideLink href={page}>#{number}</OutsideLink> {title !== undefined && printable(title)}
      </p>
      <dl class="facts">
        <dt>From</dt>
        <dd>
          <Origin pull={pull} />
        </dd>
        <dt>Commit</dt>
        <dd>
          {commitAt === undefined ? (
            <code>{commit}</code>
          ) : (
            <OutsideLink href={commitAt}>
              <code>{commit}</code>
            </OutsideLink>
          )}
        </dd>
      </dl>
      <p class="soft">
        The preview gets no variables or credentials and is destroyed after 24 hours. Later pushes need a new approval.
      </p>
    </FormDialog>
  )
}
