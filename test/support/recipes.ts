import type { Recipe } from './recipe.ts'
import { command } from './recipes/command.ts'
import { diagnostic } from './recipes/diagnostic.ts'
import { forge } from './recipes/forge.ts'
import { kind } from './recipes/kind.ts'
import { page } from './recipes/page.ts'
import { schema } from './recipes/schema.ts'
import { setting } from './recipes/setting.ts'
import { task } from './recipes/task.ts'

/** The recipes of CONTRIBUTING.md that can be followed in one copy of the project, in this order. */
export const RECIPES: Readonly<Record<string, Recipe>> = {
  command,
  diagnostic,
  forge,
  kind,
  page,
  schema,
  setting,
  task,
}
