import { addressOf } from '../../../api/pages.ts'
import { Tabs } from '../../parts/frame/page.tsx'

/** Tabs of the pages about previews. */
export const PreviewTabs = () => (
  <Tabs
    label="Previews"
    items={[
      ['Previews', addressOf('previews')],
      ['Webhooks', addressOf('webhooks')],
    ]}
  />
)
