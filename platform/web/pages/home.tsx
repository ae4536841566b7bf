import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { Namespace } from '../../api/namespaces.ts'
import { addressOf } from '../../api/pages.ts'
import { ASKED_TOGETHER } from '../../rules/asked-together.ts'
import { Deployed } from '../parts/deployed.tsx'
import { FailedDeployLine } from '../parts/failed-deploy.tsx'
import { Button } from '../parts/forms/button.tsx'
import { DeployButton } from '../parts/forms/deploy-button.tsx'
import { NewNamespace } from '../parts/forms/new-namespace.tsx'
import { FromLaptop } from '../parts/frame/from-laptop.tsx'
import { Loading, SkeletonRows } from '../parts/frame/loading.tsx'
import { Page, Section } from '../parts/frame/page.tsx'
import { Icon } from '../parts/icon.tsx'
import { OutsideLink } from '../parts/link.tsx'
import { AskTogether, isAsked, runningIn, stateOfNamespace } from '../parts/namespace-state.tsx'
import { InlineCode } from '../parts/problem.tsx'
import { namespaceState, State, Tag } from '../parts/state.tsx'
import { Time } from '../parts/time.tsx'
import { groupsOf } from '../state/groups.ts'
import { useResource } from '../state/resource.ts'
import { me } from '../state/session.ts'

/** Shows the user's namespaces, the namespaces that other users share with them, and previews. */
export function Home() {
  const namespaces = useResource('GET /namespaces', {})
  const { query, path, route } = useLocation()
  const isNew = useSignal(false)
  useEffect(() => {
    if (query['new'] === undefined) return
    isNew.value = true
    route(path, true)
  }, [query['new']])
  return (
    <Page
      title="Home"
      actions={
        <>
          <Button
            icon="plus"
            onClick={() => {
              isNew.value = true
            }}
          >
            New namespace
          </Button>
          <DeployButton />
        </>
      }
    >
      <Loading
        of={namespaces}
        skeleton={
          <>
            <p class="in-short" />
            <Section key="loading" title="Your namespaces">
              <SkeletonRows />
            </Section>
          </>
        }
      >
        {({ items }) => (
          <>
            <Asked all={items}>{isAnswered => <InShort all={items} isAnswered={isAnswered} />}</Asked>
            {groupsOf(items, me.value?.id).map(({ title, about, found }) => (
              <Section key={title} title={title} about={about}>
                <ul class="list">
                  {found.map(one => (
                    <NamespaceRow key={one.name} namespace={one} />
                  ))}
                </ul>
              </Section>
            ))}
            <Section
              title="Deploy from your laptop"
              about="Run these commands in a folder with a Compose file. The first one opens this site to log in."
            >
              <FromLaptop />
            </Section>
          </>
        )}
      </Loading>
      {isNew.value && (
        <NewNamespace
          onClose={() => {
            isNew.value = false
          }}
        />
      )}
    </Page>
  )
}

interface AskedProps {
  readonly all: readonly Namespace[]
  readonly children: (isAnswered: boolean) => ComponentChildren
}

/**
 * Requests the content of the first namespaces on the page, with a single request. Calls `children` with false until
 * the response has arrived, then with true.
 */
function Asked({ all, children }: AskedProps) {
  const names = askedOf(all)
  const isAnswered = useSignal(false)
  return (
    <>
      {names.length > 0 && (
        <AskTogether
          names={names}
          every={EVERY}
          onAnswer={() => {
            isAnswered.value = true
          }}
        />
      )}
      {children(isAnswered.value || names.length === 0)}
    </>
  )
}

/**
 * Summarizes all namespaces in one line at the top: the names of the broken ones, and counts of the others by state.
 */
function InShort({ all, isAnswered }: { readonly all: readonly Namespace[]; readonly isAnswered: boolean }) {
  // Renders nothing until the answer has arrived, because later parts of the line would move earlier ones.
  if (!isAnswered) return <p class="in-short" />
  const known = all
    .filter(({ role }) => role !== undefined)
    .flatMap(one => {
      if (!isAsked(one)) return [{ name: one.name, ...namespaceState(one.status) }]
      const running = runningIn(one.name)
      return running ? [{ name: one.name, ...stateOfNamespace(one.status, running) }] : []
    })
  const broken = known.filter(({ tone }) => tone === 'bad')
  const [busy, asleep, ready] = [
    known.filter(({ tone }) => tone === 'busy').length,
    known.filter(({ icon }) => icon === 'moon').length,
    known.filter(({ tone }) => tone === 'good').length,
  ]
  const others = all.filter(one => isAsked(one) && !runningIn(one.name)).length
  return (
    <p class="in-short" aria-live="polite">
      {broken.length > 0 && (
        <span class="state tone-bad">
          <span class="state-icon">
            <Icon name="warn" size={12} />
          </span>
          <span>
            {broken.length === 1 ? '1 namespace has a problem' : `${broken.length} namespaces have problems`}:{' '}
            {broken.slice(0, NAMED).map(({ name }, index) => (
              <span key={name}>
                {index > 0 && ', '}
                <a class="link" href={addressOf('namespace', { ns: name })}>
                  {name}
                </a>
              </span>
            ))}
            {broken.length > NAMED && ` and ${broken.length - NAMED} more`}
          </span>
        </span>
      )}
      {busy > 0 && <State tone="busy" icon="spin" word={`${busy} in progress`} />}
      {ready > 0 && <State tone="good" icon="check" word={`${ready} ready`} />}
      {asleep > 0 && <State tone="quiet" icon="moon" word={`${asleep} asleep`} />}
      {others > 0 && <span class="soft">{others} more not checked</span>}
      {broken.length + busy + ready + asleep + others === 0 && (
        <State
          tone="quiet"
          icon="ring"
          word="Nothing is running yet. Deploy from Git, or from your laptop with the commands below."
        />
      )}
    </p>
  )
}
/** Maximum number of broken namespaces that the summary at the top names. */
const NAMED = 3

/**
 * Returns the namespaces whose content is requested: the first `ASKED_TOGETHER` on the page. For one user, the platform
 * watches at most 30 namespaces at a time.
 */
const askedOf = (all: readonly Namespace[]): readonly string[] =>
  groupsOf(all, me.value?.id)
    .flatMap(({ found }) => found.filter(isAsked))
    .slice(0, ASKED_TOGETHER)
    .map(({ name }) => name)
const EVERY = 30_000

/**
 * Renders a namespace, with its content if that is already loaded. When the content arrives, only the text of the line
 * changes, so nothing moves.
 */
function NamespaceRow({ namespace }: { readonly namespace: Namespace }) {
  const running = isAsked(namespace) ? runningIn(namespace.name) : undefined
  const state = <State {...stateOfNamespace(namespace.status, running)} />
  if (!running) return <Row namespace={namespace} line={<Activity of={namespace} />} state={state} />
  const { problem, waits, deployed, failedDeploy, isPreviousRunning = false, endpoints } = running
  return (
    <Row
      namespace={namespace}
      line={
        <>
          {problem && (
            <span class="row-problem">
              <span class="strong">{problem.service}: </span>
              <InlineCode text={problem.reason} />
            </span>
          )}
          {!problem && failedDeploy && (
            <span class="row-problem">
              <FailedDeployLine failed={failedDeploy} isPreviousRunning={isPreviousRunning} />
            </span>
          )}
          {!problem && !failedDeploy && waits && (
            <span>
              <span class="strong">{waits.service}: </span>
              <InlineCode text={waits.reason} />
            </span>
          )}
          {(problem || failedDeploy || waits) && deployed && ' · '}
          {deployed ? (
            <>
              {deployed.environment !== namespace.name && <>{deployed.environment} </>}
              <Deployed deploy={deployed.deploy} />
            </>
          ) : (
            !problem && !failedDeploy && !waits && <Activity of={namespace} />
          )}
        </>
      }
      state={state}
      endpoints={endpoints}
    />
  )
}

/** Parts of a namespace's row in addition to its name. */
interface Told {
  readonly line: ComponentChildren
  readonly state: ComponentChildren
  readonly endpoints?: readonly string[]
}

/**
 * Renders the owner of a namespace, if the owner is another user, and the time at which the namespace was last used.
 */
const Activity = ({ of: { owner, lastActive } }: { readonly of: Namespace }) => (
  <>
    {owner.id !== me.value?.id && <>{owner.login} · </>}active <Time at={lastActive} />
  </>
)

const Row = ({
  namespace: { name, kind, role, isPersistent },
  line,
  state,
  endpoints = [],
}: Told & { readonly namespace: Namespace }) => (
  <li class="row environment home-row">
    <span class="row-main block">
      <span class="row-title">
        <a class="row-name cut stretched" href={addressOf('namespace', { ns: name })}>
          {name}
        </a>
        {kind === 'personal' && <Tag>personal</Tag>}
        {isPersistent && <Tag>persistent</Tag>}
        {role !== undefined && role !== 'owner' && <Tag>{role}</Tag>}
      </span>
      <span class="soft cut">{line}</span>
    </span>
    <span class="endpoints">
      {endpoints.slice(0, 1).map(one => (
        <OutsideLink key={one} href={one} />
      ))}
      {endpoints.length > 1 && <span class="soft">and {endpoints.length - 1} more</span>}
    </span>
    <span class="row-state">{state}</span>
    <Icon name="right" size={14} />
  </li>
)
