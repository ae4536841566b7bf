import type { infoRoutes } from '../../api/info.ts'
import { MIN_CLI } from '../../rules/cli-version.ts'
import type { ServerContext } from '../context.ts'
import type { HandlersOf } from './handler.ts'

export const infoHandlers = ({
  settings,
  version,
  authorities,
}: Pick<ServerContext, 'settings' | 'version' | 'authorities'>): HandlersOf<typeof infoRoutes> => ({
  'GET /info': async () => ({
    version,
    minCli: MIN_CLI,
    domain: settings.domain,
    login: settings.providers.map(({ id, name }) => ({ id, name })),
    kubernetes: settings.kubernetes,
    ...(authorities !== undefined && { authorities }),
    ...(settings.registry !== undefined && { registry: settings.registry }),
  }),
})
