import { expect, test } from 'vitest'
import { formatPath } from '../../../compiler/schema/model-path.ts'
import { toManifests } from '../../../constructs/index.ts'
import { explainField } from '../../../explain/explain-field.ts'
import { influenceOf } from '../../../explain/explain-node.ts'
import { Influences } from '../../../explain/influences.ts'
import { modelInFiles } from '../../../explain/model-in-files.ts'
import { nodesBelow } from '../../../explain/model-node.ts'
import { settingsOf } from '../../../explain/settings.ts'
import { compileFiles } from '../../../project/compile-files.ts'
import { openProject } from '../../../project/open-project.ts'
import { type Case, exampleCases, goldenCases } from '../../support/cases.ts'
import { few } from '../../support/takes-all.ts'

const input = { namespace: 'shop', domain: 'dev.example.com', registry: 'registry.example.com' }

/** Compiles a case for `explain`; undefined if it has errors, or no objects. */
async function explained({ directory, env }: Case) {
  const workspace = { cwd: directory, env, readStdin: async () => new Uint8Array() }
  const project = await openProject(workspace, {})
  const compiled = await compileFiles(workspace, [], {}, input, { project })
  const { plan, diagnostics } = compiled
  const model = modelInFiles(compiled)
  if (!plan || !model) return undefined
  const { loaded, withModel } = model
  const settings = settingsOf({ plan, input, project, env, nameSpan: loaded.nameSpan })
  return { loaded, influences: new Influences(loaded.tree, withModel, toManifests), diagnostics, settings }
}

test.each(few(exampleCases(), 4).map(one => [one.name, one] as const))(
  'each value of the objects of %s has a line, a setting or a named rule',
  { timeout: 120_000 },
  async (_, one) => {
    const known = (await explained(one))!
    const missing = [...known.influences.objects.keys()].flatMap(id =>
      explainField(id, [], known).flatMap(({ path, nodes, settings, rule }) =>
        nodes.length + settings.length > 0 || rule ? [] : [`${id} ${path}`],
      ),
    )
    expect(missing).toEqual([])
  },
)

const familyOf = (name: string): string => name.slice(0, name.indexOf('/'))

/** Golden cases that need no other options, the first of each family first. */
const simple = goldenCases()
  .filter(({ command, args, checkout }) => command === 'render' && args.length === 8 && checkout === undefined)
  .map((one, index, all) => ({ one, rank: index - all.findIndex(({ name }) => familyOf(name) === familyOf(one.name)) }))
  .sort((a, b) => a.rank - b.rank)
  .map(({ one }) => one)

test.each(few(simple, 20).map(one => [one.name, one] as const))(
  'what a line of %s became leads back to the line',
  { timeout: 120_000 },
  async (_, one) => {
    const known = await explained(one)
    if (!known) return
    const { influences, loaded } = known
    const back = new Map(
      [...influences.objects.keys()].map(id => [
        id,
        new Map(explainField(id, [], known).map(field => [field.path, field])),
      ]),
    )
    const lost: string[] = []
    for (const node of nodesBelow({ path: [], tree: loaded.tree })) {
      if (node.tree.kind !== 'scalar' || node.path[0] === 'name') continue
      const path = formatPath(node.path)
      for (const [id, paths] of influenceOf(node, influences)) {
        const { leaves } = influences.objects.get(id)!
        // A value of which the whole object depends is the reason for the object, not for each of its values.
        if (paths.size === leaves.size) continue
        for (const plain of paths) {
          const leaf = leaves.get(plain)!
          if (
            !back
              .get(id)!
              .get(leaf.path)!
              .nodes.some(one => one.path === path)
          )
            lost.push(`${path} → ${id} ${plain}`)
        }
      }
    }
    expect(lost).toEqual([])
  },
)
