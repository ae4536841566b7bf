import { Credentials } from '../../parts/forms/credentials.tsx'
import { Variables } from '../../parts/forms/variables.tsx'
import { Empty } from '../../parts/problem.tsx'
import { NamespaceFrame } from './frame.tsx'

/**
 * Shows the variables that deploys to a namespace get, and the credentials with which runs of the namespace clone
 * repositories.
 */
export const NamespaceVariables = () => (
  <NamespaceFrame part="Variables">
    {({ name, role }) =>
      role === 'owner' || role === 'developer' ? (
        <>
          <Variables
            scope={`namespace:${name}`}
            words={['--namespace', name]}
            about="Used by every deploy to this namespace, from laptops and in runs. They override variables of a person."
            mayChange
          />
          <Credentials
            scope={`namespace:${name}`}
            words={['--namespace', name]}
            about="All runs in this namespace clone repositories with them, whoever starts the run."
          />
        </>
      ) : (
        <Empty icon="lock" title="Only for owners and developers">
          <p class="soft">Only those who can deploy here see the variables and credentials of this namespace.</p>
        </Empty>
      )
    }
  </NamespaceFrame>
)
