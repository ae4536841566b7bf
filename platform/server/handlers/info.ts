import type { infoRoutes } from '../../api/info.ts'
import { MIN_CLI } from '../../rules/cli-version.ts'
import type { ServerContext } from '../context.ts'
import type { HandlersOf } from './handler.ts'

export const infoHandlers = ({
  settings,
  version,
}: Pick<ServerContext, 'settings' | 'version'>): HandlersOf<typeof infoRoutes> => ({
  'GET /info': async () => ({
    version,
    minCli: MIN_CLI,
    domain: settings.domain,
    login: settings.providers.map(({ id, name }) => ({ id, name })),
    kubernetes: settings.kubernetes,
    ...(settings.registry !== undefined && { registry: settings.registry }),
  }),
})
