import { Credentials } from '../../parts/credentials.tsx'
import { Empty } from '../../parts/problem.tsx'
import { Variables } from '../../parts/variables.tsx'
import { NamespaceFrame } from './frame.tsx'

/** What deploys of a namespace get, and with what its runs clone. */
export const NamespaceVariables = () => (
  <NamespaceFrame part="Variables">
    {({ name, role }) =>
      role === 'owner' || role === 'developer' ? (
        <>
          <Variables
            scope={`namespace:${name}`}
            words={['--namespace', name]}
            about="For all who deploy here, on laptops and in runs. They count more than those of a person."
            mayChange
          />
          <Credentials
            scope={`namespace:${name}`}
            words={['--namespace', name]}
            about="Logins of forges for all runs of this namespace, whoever starts them."
          />
        </>
      ) : (
        <Empty icon="lock" title="Who deploys here sees them">
          <p class="soft">Its variables and credentials are for its owner and its developers.</p>
        </Empty>
      )
    }
  </NamespaceFrame>
)
