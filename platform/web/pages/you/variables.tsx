import { Credentials } from '../../parts/credentials.tsx'
import { Variables } from '../../parts/variables.tsx'
import { YouFrame } from './frame.tsx'

/** What somebody's own deploys get, and with what their runs clone. */
export const YourVariables = () => (
  <YouFrame part="Variables">
    <Variables
      scope="user"
      words={['--user']}
      about="For what you deploy, wherever. Those of a namespace count more."
      mayChange
    />
    <Credentials
      scope="user"
      words={['--user']}
      about="Logins of forges for the runs that you start. Those of a namespace come first."
    />
  </YouFrame>
)
