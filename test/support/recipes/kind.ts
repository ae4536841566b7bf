import type { Recipe } from '../recipe.ts'

/**
 * Recipe of CONTRIBUTING.md, "Constructs": a PodDisruptionBudget for each service with at least 2000 replicas, which no
 * real application has.
 */
export const kind: Recipe = {
  added: {
    'compiler/plan/workload/disruption-budgets.ts': `import type { Service } from '../../compose/project.ts'
import type { PlanContext } from '../context.ts'
import type { DisruptionBudgetPlan } from '../plan.ts'

/** Decides how many Pods of each service stay while nodes are drained. */
export function planDisruptionBudgets(
  { names }: PlanContext,
  services: readonly Service[],
): readonly DisruptionBudgetPlan[] {
  return services.flatMap(({ name, scale }) => {
    if (!scale || scale.value < 2000) return []
    const service = names.of(name)
    const { value, span } = scale
    return [{ name: service, service, source: \`compose.yaml#services.\${name}\`, minAvailable: value - 1, span }]
  })
}
`,
    'constructs/disruption-budget.ts': `import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { Construct } from 'constructs'
import type { DisruptionBudgetPlan, Environment } from '../compiler/plan/plan.ts'
import { objectMeta, selectorLabels } from './labels.ts'

/** Minimum number of Pods of a service that stay while nodes are drained. */
export class DisruptionBudget extends k8s.KubePodDisruptionBudget {
  constructor(
    scope: Construct,
    id: string,
    { plan, environment }: { plan: DisruptionBudgetPlan; environment: Environment },
  ) {
    super(scope, id, budgetProps(plan, environment))
  }
}

/** The JSON of a PodDisruptionBudget, without a chart around it. */
export function budgetJson(plan: DisruptionBudgetPlan, environment: Environment): object {
  return k8s.KubePodDisruptionBudget.manifest(budgetProps(plan, environment))
}

const budgetProps = (plan: DisruptionBudgetPlan, environment: Environment): k8s.KubePodDisruptionBudgetProps => ({
  metadata: objectMeta(plan, environment),
  spec: {
    minAvailable: k8s.IntOrString.fromNumber(plan.minAvailable),
    selector: { matchLabels: selectorLabels(environment, plan.service ?? plan.name) },
  },
})
`,
    'golden/compose/workloads/many-pods-have-a-disruption-budget/compose.yaml': `services:
  web:
    image: nginx
    scale: 2000
`,
  },
  edits: [
    [
      'compiler/plan/plan.ts',
      '  readonly policies: readonly NetworkPolicyPlan[]\n',
      '  readonly disruptionBudgets: readonly DisruptionBudgetPlan[]\n',
    ],
    [
      'compiler/plan/plan.ts',
      'export interface NetworkPolicyPlan extends',
      `export interface DisruptionBudgetPlan extends ObjectPlan {
  /** Minimum number of Pods that stay available. */
  readonly minAvailable: number
}

`,
    ],
    [
      'compiler/plan/index.ts',
      'import { planGroups }',
      "import { planDisruptionBudgets } from './workload/disruption-budgets.ts'\n",
    ],
    [
      'compiler/plan/index.ts',
      '    policies: network.policies,\n',
      '    disruptionBudgets: planDisruptionBudgets(context, services),\n',
    ],
    ['test/support/constructs/plans.ts', '    policies: [],\n', '    disruptionBudgets: [],\n'],
    [
      'test/support/constructs/everything.ts',
      '  policies: [\n',
      "  disruptionBudgets: [{ ...object('full'), minAvailable: 1 }],\n",
    ],
    [
      'constructs/kinds.ts',
      "  kind('v1', 'ConfigMap'),\n",
      "  kind('policy/v1', 'PodDisruptionBudget', 'needed', { podSelector: 'selector', isExtra: true }),\n",
    ],
    [
      'constructs/objects.ts',
      "  plain('policy', ",
      "  plain('budget', plan => plan.disruptionBudgets, DisruptionBudget, budgetJson),\n",
    ],
    [
      'constructs/objects.ts',
      'import { EnvironmentObject,',
      "import { budgetJson, DisruptionBudget } from './disruption-budget.ts'\n",
    ],
    [
      'docs/deploy.md',
      '| `external-secrets.io`: `externalsecrets`',
      '| `policy`: `poddisruptionbudgets`, of services with many Pods | get, list, watch, create, update, patch, delete |\n',
    ],
  ],
}
