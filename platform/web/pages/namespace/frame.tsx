import type { ComponentChildren } from 'preact'
import { useRoute } from 'preact-iso/router'
import type { NamespaceDetails } from '../../../api/namespaces.ts'
import { addressOf } from '../../../api/pages.ts'
import { Loading } from '../../parts/loading.tsx'
import { Page, Tabs } from '../../parts/page.tsx'
import { namespaceState, State, Tag } from '../../parts/state.tsx'
import { type Read, useResource } from '../../state/resource.ts'
import { DeleteFailed } from './delete-failed.tsx'
import { SleepButton } from './sleep-button.tsx'

interface FrameProps {
  /** The tab, for the title of the window. */
  readonly part?: string
  readonly actions?: ComponentChildren
  readonly children: (namespace: NamespaceDetails, of: Read<NamespaceDetails>) => ComponentChildren
}

/** What the pages of one namespace have in common. */
export function NamespaceFrame({ part, actions, children }: FrameProps) {
  const { params } = useRoute()
  const ns = params['ns'] ?? ''
  const found = useResource('GET /namespaces/:ns', { params: { ns } })
  const { data } = found.state.value
  return (
    <Page
      title={ns}
      windowTitle={part === undefined ? ns : `${part} · ${ns}`}
      crumbs={[['Home', addressOf('home')]]}
      beside={
        data && (
          <>
            <State {...namespaceState(data.status)} />
            {data.kind !== 'namespace' && <Tag>{data.kind}</Tag>}
          </>
        )
      }
      actions={
        data && (
          <>
            {actions}
            <SleepButton namespace={data} of={found} />
          </>
        )
      }
      tabs={
        <Tabs
          label={`Parts of ${ns}`}
          items={[
            ['Overview', addressOf('namespace', { ns })],
            ['Runs', addressOf('runs', { ns })],
            ['Variables', addressOf('variables', { ns })],
            ['Members', addressOf('members', { ns })],
            ['Settings', addressOf('settings', { ns })],
          ]}
        />
      }
    >
      <Loading of={found}>
        {namespace => (
          <>
            {namespace.status === 'DeleteFailed' && <DeleteFailed namespace={namespace} of={found} />}
            {children(namespace, found)}
          </>
        )}
      </Loading>
    </Page>
  )
}
