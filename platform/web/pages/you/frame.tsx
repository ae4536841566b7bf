import type { ComponentChildren } from 'preact'
import { addressOf } from '../../../api/pages.ts'
import { Page, Tabs } from '../../parts/frame/page.tsx'

/** What the pages about oneself have in common. */
export const YouFrame = ({ part, children }: { readonly part: string; readonly children: ComponentChildren }) => (
  <Page
    title="Your account"
    windowTitle={part}
    tabs={
      <Tabs
        label="Your account"
        items={[
          ['Account', addressOf('you')],
          ['Variables', addressOf('yourVariables')],
          ['Tokens', addressOf('tokens')],
        ]}
      />
    }
  >
    {children}
  </Page>
)
