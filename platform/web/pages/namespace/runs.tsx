import { KEPT_RUNS } from '../../../rules/runs/kept-runs.ts'
import { DeployButton } from '../../parts/forms/deploy-button.tsx'
import { Loading } from '../../parts/frame/loading.tsx'
import { Section } from '../../parts/frame/page.tsx'
import { Runs } from '../../parts/logs/runs.tsx'
import { Empty } from '../../parts/problem.tsx'
import { useResource } from '../../state/resource.ts'
import { NamespaceFrame } from './frame.tsx'

const { perEnvironment, perNamespace } = KEPT_RUNS
const KEPT = `The last ${perEnvironment} of each environment are kept, and the last ${perNamespace} of the namespace.`

/** Shows the runs of a namespace, and how to start one. */
export function NamespaceRuns() {
  return (
    <NamespaceFrame part="Runs">
      {({ name, role }) => (
        <Section
          title="Runs"
          about={`Deploys and destroys that run in the cluster. ${KEPT}`}
          actions={(role === 'owner' || role === 'developer') && <DeployButton namespace={name} />}
        >
          <List ns={name} />
        </Section>
      )}
    </NamespaceFrame>
  )
}

/** Polling interval in milliseconds. */
const EVERY = 5_000

function List({ ns }: { readonly ns: string }) {
  const found = useResource('GET /runs', { query: { namespace: ns } }, EVERY)
  return (
    <Loading of={found}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty icon="branch" title="No runs yet">
            <p class="soft">
              A run clones a repository and deploys it in the cluster. You need nothing on your laptop.
            </p>
          </Empty>
        ) : (
          <Runs items={items} />
        )
      }
    </Loading>
  )
}
