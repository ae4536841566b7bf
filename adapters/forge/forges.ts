import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import type { ForgeModule } from './forge-module.ts'
import { gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'

/**
 * The module of each kind. If two modules recognize the same server, the first wins: Gitea comes before GitHub, because
 * Gitea sets GitHub's variables in addition to its own.
 */
export const FORGES: { readonly [Kind in ForgeKind]: ForgeModule<Kind> } = { gitea, github, gitlab }

/** All modules, in the order in which they are tried. */
export const ALL_FORGES: readonly ForgeModule[] = Object.values(FORGES)
