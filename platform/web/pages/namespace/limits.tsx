import { Fragment } from 'preact'
import { Bar } from '../../parts/frame/bar.tsx'
import { Loading } from '../../parts/frame/loading.tsx'
import { Section } from '../../parts/frame/page.tsx'
import { Tag } from '../../parts/state.tsx'
import { shownLimits } from '../../state/limits.ts'
import { useResource } from '../../state/resource.ts'

/** Shows the limits of a namespace, and how much of each is used. */
export function Limits({ ns }: { readonly ns: string }) {
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
