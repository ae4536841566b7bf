import { Credentials } from '../../parts/forms/credentials.tsx'
import { Variables } from '../../parts/forms/variables.tsx'
import { YouFrame } from './frame.tsx'

/**
 * Shows the variables that the user's deploys get, and the credentials with which the user's runs clone repositories.
 */
export const YourVariables = () => (
  <YouFrame part="Variables">
    <Variables
      scope="user"
      words={['--user']}
      about="Used by everything you deploy. Variables of a namespace override them."
      mayChange
    />
    <Credentials
      scope="user"
      words={['--user']}
      about="Runs that you start clone repositories with them. Credentials of a namespace take precedence."
    />
  </YouFrame>
)
