import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import type { ForgeModule } from './forge-module.ts'
import { gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'

/**
 * The module of each kind. The order counts where two of them could take one server for theirs:
 * Gitea is before GitHub, since it sets the variables of GitHub beside its own.
 */
export const FORGES: { readonly [Kind in ForgeKind]: ForgeModule<Kind> } = { gitea, github, gitlab }

/** All modules, in the order in which they are asked. */
export const ALL_FORGES: readonly ForgeModule[] = Object.values(FORGES)
