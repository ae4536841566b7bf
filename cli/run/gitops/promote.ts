import { promote } from '../../../gitops/publish/promote.ts'
import type { Context } from '../../command.ts'
import type { PromoteValues } from '../../commands/promote.ts'
import { publishing } from './publish.ts'

/** Publishes the content of one environment to another. Returns the exit status. */
export const promoteApplication = (context: Context, from: string, to: string, options: PromoteValues) =>
  publishing(context, { ...options, verify: false }, world => promote(world, { ...options, from, to }))
