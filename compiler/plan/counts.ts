import type { Service } from '../compose/project.ts'
import type { Plan } from './plan.ts'

/** Counts services, and apart from them jobs, which are started by triggers. */
export function countsOf(services: readonly Service[]): Pick<Plan, 'serviceCount' | 'jobCount'> {
  const jobCount = services.filter(({ triggers }) => triggers !== undefined).length
  return { serviceCount: services.length - jobCount, jobCount }
}
