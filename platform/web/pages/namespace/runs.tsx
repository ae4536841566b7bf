import { useSignal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { DeployForm } from '../../parts/deploy-form.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/problem.tsx'
import { Runs } from '../../parts/runs.tsx'
import { useResource } from '../../state/resource.ts'
import { NamespaceFrame } from './frame.tsx'

/** The runs of a namespace, and how one is started. */
export function NamespaceRuns() {
  const isNew = useSignal(false)
  return (
    <NamespaceFrame part="Runs">
      {({ name, role }) => (
        <Section
          title="Runs"
          about="Deploys and destroys that run in the cluster; the last hundred are kept."
          actions={
            (role === 'owner' || role === 'developer') && (
              <Button
                look="solid"
                icon="branch"
                onClick={() => {
                  isNew.value = true
                }}
              >
                Deploy from git
              </Button>
            )
          }
        >
          <List ns={name} />
          {isNew.value && (
            <DeployForm
              from={{ namespace: name }}
              onClose={() => {
                isNew.value = false
              }}
            />
          )}
        </Section>
      )}
    </NamespaceFrame>
  )
}

/** Milliseconds between two looks. */
const EVERY = 5_000

function List({ ns }: { readonly ns: string }) {
  const found = useResource('GET /runs', { query: { namespace: ns } }, EVERY)
  return (
    <Loading of={found}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty icon="branch" title="No runs yet">
            <p class="soft">The cluster clones a repository and deploys it; nothing is needed on your laptop.</p>
          </Empty>
        ) : (
          <Runs items={items} />
        )
      }
    </Loading>
  )
}
