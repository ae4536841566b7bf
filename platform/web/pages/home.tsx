import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { Namespace } from '../../api/namespaces.ts'
import { addressOf } from '../../api/pages.ts'
import { Button } from '../parts/button.tsx'
import { DeployButton } from '../parts/deploy-button.tsx'
import { FromLaptop } from '../parts/from-laptop.tsx'
import { Icon } from '../parts/icon.tsx'
import { Loading, SkeletonRows } from '../parts/loading.tsx'
import { NewNamespace } from '../parts/new-namespace.tsx'
import { Page, Section } from '../parts/page.tsx'
import { namespaceState, State, Tag, workloadState } from '../parts/state.tsx'
import { Time } from '../parts/time.tsx'
import { groupsOf } from '../state/groups.ts'
import { useResource } from '../state/resource.ts'
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

/** How what runs in a namespace is, in a few words: what is wrong before what is well. */
function Running({ ns }: { readonly ns: string }) {
  const { data } = useResource('GET /namespaces/:ns/environments', { params: { ns } }).state.value
  if (!data) return <State {...namespaceState('Active')} />
  const broken = data.items.filter(one => one.state === 'failed')
  if (broken.length > 0)
    return (
      <State
        {...workloadState('failed')}
        word={broken.length === 1 ? `Problem in ${broken[0]?.name}` : `${broken.length} problems`}
      />
    )
  if (data.items.some(one => one.state === 'waiting')) return <State {...workloadState('waiting')} />
  const services = data.items.reduce((sum, one) => sum + one.services, 0)
  if (services === 0) return <State {...workloadState('empty')} />
  return <State {...workloadState('ready')} word={services === 1 ? '1 service ready' : `${services} services ready`} />
}

function NamespaceRow({
  namespace: { name, kind, status, owner, role, lastActive, isPersistent },
  isWatched,
}: {
  readonly namespace: Namespace
  readonly isWatched: boolean
}) {
  return (
    <li>
      <a class="row" href={addressOf('namespace', { ns: name })}>
        <span class="row-main">
          <span class="row-name cut">{name}</span>
          {kind === 'personal' && <Tag>personal</Tag>}
          {isPersistent && <Tag>kept</Tag>}
          {role !== undefined && role !== 'owner' && <Tag>{role}</Tag>}
        </span>
        {status === 'Active' && role !== undefined && isWatched ? (
          <Running ns={name} />
        ) : (
          <State {...namespaceState(status)} />
        )}
        <span class="row-side soft">
          {owner.id !== me.value?.id && <>{owner.login} · </>}active <Time at={lastActive} />
        </span>
        <Icon name="right" size={14} />
      </a>
    </li>
  )
}
