import { useEffect, useRef } from 'preact/hooks'
import type { EnvironmentDetails } from '../../../api/environments.ts'
import { Changes } from '../../parts/changes.tsx'
import { Section } from '../../parts/frame/page.tsx'
import { useResource } from '../../state/resource.ts'

/** Polling interval for the history, in milliseconds. A new deploy updates it immediately. */
const EVERY = 120_000

/** Shows the changes that the last deploys made. Loads them again when there is a newer deploy. */
export function History({ environment: { namespace, name, deployed } }: { readonly environment: EnvironmentDetails }) {
  const { state, refresh } = useResource(
    'GET /namespaces/:ns/environments/:env/history',
    { params: { ns: namespace, env: name } },
    EVERY,
  )
  const last = `${deployed?.number} ${deployed?.at} ${deployed?.end}`
  const shown = useRef(last)
  useEffect(() => {
    if (shown.current !== last) void refresh()
    shown.current = last
  }, [last])
  const { items = [] } = state.value.data ?? {}
  if (items.length === 0) return null
  return (
    <Section title="What changed" about="Secret values are masked.">
      <Changes history={items} />
    </Section>
  )
}
