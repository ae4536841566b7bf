import type { RouteName } from '../../../../platform/api/routes.ts'
import { accountSamples } from './answers/account.ts'
import { adminSamples } from './answers/admin.ts'
import { environmentSamples } from './answers/environments.ts'
import { namespaceSamples } from './answers/namespaces.ts'
import { previewSamples } from './answers/previews.ts'
import { runSamples } from './answers/runs.ts'
import { variableSamples } from './answers/variables.ts'
import type { Sample } from './sample.ts'

/**
 * Sample data for `npm run dev:web`, by route. The route table types it, so a route whose reply changes needs another
 * sample. Routes that no page calls have none.
 */
export const SAMPLES: { readonly [N in RouteName]?: Sample<N> } = {
  ...accountSamples,
  ...adminSamples,
  ...environmentSamples,
  ...namespaceSamples,
  ...previewSamples,
  ...runSamples,
  ...variableSamples,
}
