import { flag } from './option.ts'

/**
 * Option `--tolerate-failures` of commands that wait for workloads in the cluster. The commands then wait until the
 * deadline, whatever fails.
 */
export const tolerateFailures = {
  ...flag(
    '--tolerate-failures',
    'wait until the deadline whatever fails, since it may be fixed in the meantime (default: $DEVCTL_TOLERATE_FAILURES)',
  ),
  common: 'waiting' as const,
}
