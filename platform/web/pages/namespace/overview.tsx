import { Fragment } from 'preact'
import { printable } from '../../../../compiler/values/printable.ts'
import { stillRuns } from '../../../rules/runs/running.ts'
import { Environments } from '../../parts/environments.tsx'
import { FailedDeployBox } from '../../parts/failed-deploy.tsx'
import { DeployButton } from '../../parts/forms/deploy-button.tsx'
import { Bar } from '../../parts/frame/bar.tsx'
import { FromLaptop } from '../../parts/frame/from-laptop.tsx'
import { Loading } from '../../parts/frame/loading.tsx'
import { Section } from '../../parts/frame/page.tsx'
import { deploysIn } from '../../parts/namespace-state.tsx'
import { PersonLine } from '../../parts/person.tsx'
import { Empty } from '../../parts/problem.tsx'
import { Tag } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { shownLimits } from '../../state/limits.ts'
import { useLive } from '../../state/live.ts'
import { useResource } from '../../state/resource.ts'
import { me } from '../../state/session.ts'
import { NamespaceFrame } from './frame.tsx'

/** Shows what runs in a namespace, and how to deploy to it. */
export const NamespaceOverview = () => (
  <NamespaceFrame>
    {({ name, role, status, owner, created, lastActive, isPersistent, deleteWaits }) => (
      <>
        {deleteWaits !== undefined && (
          <p class="soft" role="status">
            Still being deleted: {printable(deleteWaits)}
          </p>
        )}
        {role !== undefined && status !== 'Deleting' && <Running ns={name} isEnding={isEnding(status)} />}
        {(role === 'owner' || role === 'developer') && !isEnding(status) && (
          <Section
            title="Deploy"
            about="From your laptop, in a folder with a Compose file, or from Git."
            actions={<DeployButton namespace={name} />}
          >
            <FromLaptop namespace={name} {...(me.value?.home !== undefined && { home: me.value.home })} />
          </Section>
        )}
        <Section title="About">
          <dl class="facts card">
            <dt>Owner</dt>
            <dd>
              <PersonLine person={owner} isYou={owner.id === me.value?.id} />
            </dd>
            <dt>Created</dt>
            <dd>
              <Time at={created} />
            </dd>
            <dt>Last active</dt>
            <dd>
              <Time at={lastActive} />
            </dd>
            <dt>When idle</dt>
            <dd>{isPersistent ? 'Stays awake' : 'Goes to sleep'}</dd>
          </dl>
        </Section>
        <Limits ns={name} />
      </>
    )}
  </NamespaceFrame>
)

/** True if the namespace is being deleted, so that nothing can be started in it. */
const isEnding = (status: string): boolean => status === 'Deleting' || status === 'DeleteFailed'

/** Polling interval for the environments if there is no stream, in milliseconds. */
const EVERY = 5_000

function Running({ ns, isEnding }: { readonly ns: string; readonly isEnding: boolean }) {
  const found = useResource('GET /namespaces/:ns/environments', { params: { ns } }, useLive(ns, EVERY))
  const known = found.state.value.data?.items ?? []
  return (
    <Section title="Environments">
      {deploysIn(ns).failedDeploys.map(failed => (
        <FailedDeployBox key={failed.run} failed={failed} isPreviousRunning={stillRuns(failed, known)} />
      ))}
      <Loading of={found}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="box" title={isEnding ? 'Nothing deployed' : 'Nothing deployed yet'}>
              {!isEnding && <p class="soft">Deploy from Git, or from your laptop with the commands below.</p>}
            </Empty>
          ) : (
            <Environments ns={ns} items={items} />
          )
        }
      </Loading>
    </Section>
  )
}

/** Shows the limits of a namespace, and how much of each is used. */
function Limits({ ns }: { readonly ns: string }) {
  const found = useResource('GET /namespaces/:ns/limits', { params: { ns } })
  return (
    <Section title="Limits" about="Deploys that need more are refused. An administrator can raise them.">
      <Loading of={found}>
        {({ items }) => (
          <dl class="facts limits card">
            {shownLimits(items).map(({ resource, name, amount, share, warning }) => (
              <Fragment key={resource}>
                <dt>{name}</dt>
                <dd class="metered">
                  <span class="number">{amount}</span>
                  <Bar share={share} tone={warning?.tone} />
                  {warning && <Tag tone={warning.tone}>{warning.word}</Tag>}
                </dd>
              </Fragment>
            ))}
          </dl>
        )}
      </Loading>
    </Section>
  )
}
