import type { EnvironmentDetails } from '../../../api/environments.ts'
import { History } from './history.tsx'
import { Jobs } from './jobs.tsx'

/** Shows the parts of the page of an environment that are loaded after its services: its jobs and its history. */
export const BelowServices = ({ environment }: { readonly environment: EnvironmentDetails }) => (
  <>
    {environment.jobs && environment.jobs.length > 0 && <Jobs jobs={environment.jobs} />}
    <History environment={environment} />
  </>
)
