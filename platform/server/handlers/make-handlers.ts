import type { ServerContext } from '../context.ts'
import type { Services } from '../create-services.ts'
import { adminHandlers } from './admin.ts'
import { analyticsHandlers } from './analytics.ts'
import { authHandlers } from './auth.ts'
import { builderHandlers } from './builders.ts'
import { credentialHandlers } from './credentials.ts'
import { environmentHandlers } from './environments.ts'
import type { Handlers } from './handler.ts'
import { hookHandlers } from './hooks.ts'
import { infoHandlers } from './info.ts'
import { meHandlers } from './me.ts'
import { namespaceHandlers } from './namespaces.ts'
import { previewHandlers } from './previews.ts'
import { registryHandlers } from './registry.ts'
import { runHandlers } from './runs.ts'
import { searchHandlers } from './search.ts'
import { sleepHandlers } from './sleep.ts'
import { userHandlers } from './users.ts'
import { variableHandlers } from './variables.ts'

/** Creates the handlers of all routes. The type of each function names the services that its handlers use. */
export const makeHandlers = (world: ServerContext, parts: Services): Handlers => ({
  ...infoHandlers(world),
  ...authHandlers(world, parts),
  ...meHandlers(world, parts),
  ...namespaceHandlers(parts),
  ...environmentHandlers(parts),
  ...sleepHandlers(parts),
  ...builderHandlers(world, parts),
  ...runHandlers(parts),
  ...searchHandlers(parts),
  ...previewHandlers(parts),
  ...hookHandlers(world, parts),
  ...userHandlers(world, parts),
  ...variableHandlers(world, parts),
  ...credentialHandlers(parts),
  ...adminHandlers(world.settings, parts.overviews),
  ...analyticsHandlers(parts.usage),
  ...registryHandlers(world, parts),
})
