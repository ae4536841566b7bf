import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { Namespace } from '../../api/namespaces.ts'
import { addressOf } from '../../api/pages.ts'
import { Button } from '../parts/button.tsx'
import { DeployButton } from '../parts/deploy-button.tsx'
import { Deployed } from '../parts/deployed.tsx'
import { FromLaptop } from '../parts/from-laptop.tsx'
import { Icon } from '../parts/icon.tsx'
import { OutsideLink } from '../parts/link.tsx'
import { Loading, SkeletonRows } from '../parts/loading.tsx'
import { NewNamespace } from '../parts/new-namespace.tsx'
import { Page, Section } from '../parts/page.tsx'
import { InlineCode } from '../parts/problem.tsx'
import { namespaceState, State, Tag, workloadState } from '../parts/state.tsx'
import { Time } from '../parts/time.tsx'
import { groupsOf } from '../state/groups.ts'
import { useResource } from '../state/resource.ts'
import { runningOf } from '../state/running.ts'
import { me } from '../state/session.ts'

/** What somebody has: their namespaces, those that others share with them, and previews. */
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
          <Section title="Yours">
            <SkeletonRows />
          </Section>
        }
      >
        {({ items }) => (
          <>
            {groupsOf(items, me.value?.id).map(({ title, about, found }) => (
              <Section key={title} title={title} about={about}>
                <ul class="list">
                  {found.map((one, index) => (
                    <NamespaceRow key={one.name} namespace={one} isWatched={index < WATCHED} />
                  ))}
                </ul>
              </Section>
            ))}
            <Section
              title="Deploy from your laptop"
              about="In the folder of a Compose file. The first line opens this site to log in."
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

/** Namespaces of a group of which it is told what runs in them. */
const WATCHED = 8

/** What a row says of a namespace besides its name. */
interface Told {
  readonly line: ComponentChildren
  readonly state: ComponentChildren
  readonly endpoints?: readonly string[]
}

function NamespaceRow({ namespace, isWatched }: { readonly namespace: Namespace; readonly isWatched: boolean }) {
  const { status, role } = namespace
  if (status === 'Active' && role !== undefined && isWatched) return <RunningRow namespace={namespace} />
  return <Row namespace={namespace} line={<Activity of={namespace} />} state={<State {...namespaceState(status)} />} />
}

/** A namespace, with what runs in it. Nothing moves when that is known: the line says something else then. */
function RunningRow({ namespace }: { readonly namespace: Namespace }) {
  const { data } = useResource('GET /namespaces/:ns/environments', { params: { ns: namespace.name } }).state.value
  const activity = <Activity of={namespace} />
  if (!data) return <Row namespace={namespace} line={activity} state={<State {...namespaceState('Active')} />} />
  const { state, word, problem, deployed, endpoints } = runningOf(data.items)
  const line = problem ? (
    <span class="row-problem">
      <span class="strong">{problem.service}: </span>
      <InlineCode text={problem.reason} />
    </span>
  ) : deployed ? (
    <>
      {deployed.environment !== namespace.name && <>{deployed.environment} </>}
      <Deployed deploy={deployed.deploy} />
    </>
  ) : (
    activity
  )
  const shown = workloadState(state)
  return (
    <Row
      namespace={namespace}
      line={line}
      state={<State {...shown} word={word ?? shown.word} />}
      endpoints={endpoints}
    />
  )
}

/** Whose it is, where that is somebody else, and when it was used last. */
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
        {isPersistent && <Tag>kept</Tag>}
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
