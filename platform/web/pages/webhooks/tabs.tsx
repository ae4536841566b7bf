import { addressOf } from '../../../api/pages.ts'
import { Tabs } from '../../parts/frame/page.tsx'

/** The pages about previews, beside each other. */
export const PreviewTabs = () => (
  <Tabs
    label="Previews"
    items={[
      ['Previews', addressOf('previews')],
      ['Webhooks', addressOf('webhooks')],
    ]}
  />
)
