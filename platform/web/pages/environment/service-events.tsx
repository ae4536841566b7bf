import { printable } from '../../../../compiler/values/printable.ts'
import type { SeenEvents } from '../../../api/environments.ts'
import { SameOnCommandLine } from '../../parts/copy.tsx'
import { Loading } from '../../parts/frame/loading.tsx'
import { Section } from '../../parts/frame/page.tsx'
import { Empty } from '../../parts/problem.tsx'
import { Tag } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { useResource } from '../../state/resource.ts'
import { commandLine } from '../../state/shell-words.ts'

interface ServiceEventsProps {
  readonly namespace: string
  readonly environment: string
  readonly service: string
  /** Name of the workload, as kubectl prints it. */
  readonly workload: string | undefined
}

/** Polling interval in milliseconds. */
const EVERY = 10_000

/** Shows the Kubernetes events of a service and its Pods. */
export function ServiceEvents({ namespace, environment, service, workload }: ServiceEventsProps) {
  const params = { ns: namespace, env: environment, service }
  const found = useResource('GET /namespaces/:ns/environments/:env/services/:service/events', { params }, EVERY)
  return (
    <Section title="Events" about="Kubernetes events of the service and its Pods. The cluster keeps them for an hour.">
      <Loading of={found}>
        {({ items, isCut }) => (
          <>
            {items.length === 0 ? (
              <Empty icon="info" title="No events" />
            ) : (
              <ul class="list">
                {items.map(one => (
                  <EventRow key={`${one.about} ${one.reason} ${one.time} ${one.message}`} event={one} />
                ))}
              </ul>
            )}
            {isCut && <p class="soft">This namespace has more events than are shown here.</p>}
          </>
        )}
      </Loading>
      <SameOnCommandLine
        command={commandLine(
          ...['kubectl', 'events', '--namespace', namespace],
          ...(workload === undefined ? [] : ['--for', workload]),
        )}
      />
    </Section>
  )
}

const EventRow = ({
  event: { isWarning, about, time, reason, message, count },
}: {
  readonly event: SeenEvents['items'][number]
}) => (
  <li class="row event">
    <span class="row-main block">
      <span class="event-head">
        <span class="row-name">{printable(reason)}</span>
        {isWarning && <Tag tone="warn">warning</Tag>}
        <span class="soft">
          {printable(about)}
          {count > 1 && `, ${count} times`}
        </span>
      </span>
      <span class="event-text">{printable(message)}</span>
    </span>
    <span class="row-side soft">
      <Time at={time} />
    </span>
  </li>
)
