import type { ComponentChildren } from 'preact'
import { addressOf } from '../../../api/pages.ts'
import { Page, Tabs } from '../../parts/frame/page.tsx'

/** Renders the common parts of the pages about the user's account. */
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
