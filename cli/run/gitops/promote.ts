import { promote } from '../../../gitops/publish/promote.ts'
import type { Context } from '../../command.ts'
import type { PublishValues } from '../../options/publish-values.ts'
import { publishing } from './publish.ts'

export type PromoteValues = Omit<PublishValues, 'environment' | 'image' | 'imagesFile' | 'tag' | 'verify' | 'oci'>

/** Publishes the content of one environment to another. Returns the exit status. */
export const promoteApplication = (context: Context, from: string, to: string, options: PromoteValues) =>
  publishing(context, { ...options, verify: false }, world => promote(world, { ...options, from, to }))
