import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import type { NamespaceDetails } from '../../../api/namespaces.ts'
import { addressOf } from '../../../api/pages.ts'
import { Loading } from '../../parts/frame/loading.tsx'
import { Page, Tabs } from '../../parts/frame/page.tsx'
import { AskTogether, isAsked, runningIn, stateOfNamespace } from '../../parts/namespace-state.tsx'
import { namespaceState, type ShownState, State, Tag } from '../../parts/state.tsx'
import { type Read, useResource } from '../../state/resource.ts'
import { DeleteFailed } from './delete-failed.tsx'
import { SleepButton } from './sleep-button.tsx'

interface FrameProps {
  /** Name of the tab, for the title of the window. */
  readonly part?: string
  readonly actions?: ComponentChildren
  readonly children: (namespace: NamespaceDetails, of: Read<NamespaceDetails>) => ComponentChildren
}

/** Renders the common parts of the pages of one namespace. */
export function NamespaceFrame({ part, actions, children }: FrameProps) {
  const { params } = useRoute()
  const ns = params['ns'] ?? ''
  const found = useResource('GET /namespaces/:ns', { params: { ns } })
  const { data } = found.state.value
  const [state, setState] = useState<ShownState | undefined>(undefined)
  const shown = data && (isAsked(data) ? state : namespaceState(data.status))
  return (
    <Page
      title={ns}
      windowTitle={part === undefined ? ns : `${part} · ${ns}`}
      tone={shown?.tone}
      crumbs={[['Home', addressOf('home')]]}
      beside={
        data && (
          <>
            {isAsked(data) ? (
              <RunningState key={ns} ns={ns} onState={setState} />
            ) : (
              <State {...namespaceState(data.status)} />
            )}
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
          label={`Namespace ${ns}`}
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

/** Polling interval if there is no stream, in milliseconds. */
const EVERY = 60_000

interface RunningStateProps {
  readonly ns: string
  /** Called with the state, for the title of the window. */
  readonly onState: (state: ShownState) => void
}

/** Renders the state of the namespace's content, which is more informative than the status of the namespace. */
function RunningState({ ns, onState }: RunningStateProps) {
  const state = stateOfNamespace('Active', runningIn(ns))
  useEffect(() => onState(state), [state.tone])
  return (
    <>
      <AskTogether names={[ns]} every={EVERY} />
      <State {...state} />
    </>
  )
}
