import { cutName } from './object-names.ts'
import type { WorkloadPlan } from './plan.ts'

/** Returns the distinct services whose Jobs a workload waits for, sorted. */
export const waitedServices = ({ pod }: Pick<WorkloadPlan, 'pod'>): readonly string[] =>
  [...new Set(pod.waits.flatMap(({ kind, service }) => (kind === 'job' ? [service] : [])))].sort()

/**
 * Returns the name of the ServiceAccount, Role and RoleBinding with which Pods wait for the Jobs of services. Service
 * names have no dots, so the dots in the name are unambiguous. Workloads that wait for the same Jobs share these
 * objects. Other workloads have separate ones, so that a deploy of some services does not change the permissions of the
 * others.
 */
export const waiterAccountName = (environment: string, services: readonly string[]): string =>
  cutName(`${environment}-waits-for-${services.join('.')}`, 253)
