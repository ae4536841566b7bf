import { Page } from '../../parts/page.tsx'
import { Variables } from '../../parts/variables.tsx'
import { isAdmin } from '../../state/session.ts'

/** What all deploys get, for administrators. */
export const EverybodysVariables = () => (
  <Page title="Variables of everybody">
    <Variables
      scope="admin"
      words={['--admin']}
      about="For everything that is deployed on this platform. Those of a person and of a namespace count more."
      mayChange={isAdmin.value}
    />
  </Page>
)
