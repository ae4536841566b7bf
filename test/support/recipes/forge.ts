import type { Recipe } from '../recipe.ts'

/** Recipe of CONTRIBUTING.md, "Forges": a public server that has adopted the API of Gitea. */
export const forge: Recipe = {
  added: {
    'adapters/forge/meadow.ts': `import type { ForgeModule } from './forge-module.ts'
import { gitea } from './gitea.ts'

const { question: _, ...same } = gitea

/** The forge of meadow.example.com, whose API is that of Gitea. */
export const meadow: ForgeModule<'meadow'> = {
  ...same,
  kind: 'meadow',
  name: 'Meadow',
  isHost: host => host === 'meadow.example.com',
  serverVariables: [],
  serversIn: () => [],
  tokens: { ...gitea.tokens, names: ['MEADOW_TOKEN'], namesFor: () => ['MEADOW_TOKEN'] },
}
`,
    'test/unit/adapters/forge/meadow.test.ts': `import { expect, test } from 'vitest'
import { FORGES } from '../../../../adapters/forge/forges.ts'
import { forgeServer } from '../../../support/gitops/forge/forge-server.ts'

test('its host alone shows it', async () => {
  const server = await forgeServer()
  expect(server.url).toMatch(/^http/)
  expect(FORGES.meadow.isHost('meadow.example.com')).toBe(true)
})
`,
  },
  edits: [
    ['compiler/values/repository-names.ts', '] as const\nexport type ForgeKind', ", 'meadow'"],
    ['adapters/forge/forges.ts', ', gitlab }\n', ', meadow'],
    ['adapters/forge/forges.ts', '\n/**\n * The module of each', "import { meadow } from './meadow.ts'\n"],
    ['docs/gitops.md', '| Gitea, Forgejo | ', '| Meadow | `DEVCTL_FORGE_TOKEN`, `MEADOW_TOKEN` |\n'],
  ],
}
