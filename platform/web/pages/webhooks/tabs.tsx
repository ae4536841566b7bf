import { addressOf } from '../../../api/pages.ts'
import { Tabs } from '../../parts/frame/page.tsx'

/** Renders the tabs of the two pages about previews. */
export const PreviewTabs = () => (
  <Tabs
    label="Previews"
    items={[
      ['Previews', addressOf('previews')],
      ['Webhooks', addressOf('webhooks')],
    ]}
  />
)
