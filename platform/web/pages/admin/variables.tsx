import { Variables } from '../../parts/forms/variables.tsx'
import { Page } from '../../parts/frame/page.tsx'
import { isAdmin } from '../../state/session.ts'

/** Shows administrators the variables that every deploy on the platform receives. */
export const EverybodysVariables = () => (
  <Page title="Variables for everyone">
    <Variables
      scope="admin"
      words={['--admin']}
      about="Used by every deploy on this platform. Variables of a person or a namespace override them."
      mayChange={isAdmin.value}
    />
  </Page>
)
