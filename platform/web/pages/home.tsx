import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { Namespace } from '../../api/namespaces.ts'
import { addressOf } from '../../api/pages.ts'
import { Button } from '../parts/button.tsx'
import { FromLaptop } from '../parts/from-laptop.tsx'
import { Icon } from '../parts/icon.tsx'
import { Loading, SkeletonRows } from '../parts/loading.tsx'
import { NewNamespace } from '../parts/new-namespace.tsx'
import { Page, Section } from '../parts/page.tsx'
import { namespaceState, State, Tag } from '../parts/state.tsx'
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
        <Button
          look="solid"
          icon="plus"
          onClick={() => {
            isNew.value = true
          }}
        >
          New namespace
        </Button>
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
                  {found.map(one => (
                    <NamespaceRow key={one.name} namespace={one} />
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

function NamespaceRow({
  namespace: { name, kind, status, owner, role, lastActive, isPersistent },
}: {
  readonly namespace: Namespace
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
        <State {...namespaceState(status)} />
        <span class="row-side soft">
          {owner.id !== me.value?.id && <>{owner.login} · </>}active <Time at={lastActive} />
        </span>
        <Icon name="right" size={14} />
      </a>
    </li>
  )
}
