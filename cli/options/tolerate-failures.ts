import { flag } from './option.ts'

/** Option of commands that wait for workloads in the cluster. */
export const tolerateFailures = {
  ...flag(
    '--tolerate-failures',
    'wait until the deadline whatever fails, since it may be fixed in the meantime (default: $DEVCTL_TOLERATE_FAILURES)',
  ),
  common: 'waiting' as const,
}
