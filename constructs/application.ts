import { ApiObject } from 'cdk8s'
import { Construct } from 'constructs'
import type { ObjectPlan, Plan, WorkloadPlan } from '../compiler/plan/plan.ts'
import { jobOf, makingOf, OBJECTS } from './objects.ts'
import { renderWithPiece } from './piece.ts'

/** A construct with all objects of a plan, created in the order of `OBJECTS`. */
export class Application extends Construct {
  readonly #objects = new Map<ObjectPlan, Construct>()

  constructor(scope: Construct, id: string, plan: Plan) {
    super(scope, id)
    const making = makingOf(plan)
    for (const objects of OBJECTS)
      objects.construct(this, making, (one, construct) => {
        this.#objects.set(one, construct)
        const job = jobOf(one)
        if (job && !this.#objects.has(job)) this.#objects.set(job, construct)
        if (construct instanceof ApiObject) renderWithPiece(construct, one)
      })
  }

  /**
   * Returns the object that was created for a workload of the plan; for a job with several CronJobs, the first one.
   * Throws an Error if the plan does not contain the workload.
   */
  protected objectOf(workload: WorkloadPlan): ApiObject {
    const object = this.#objects.get(workload)
    if (!object) throw new Error(`${workload.name} is no workload of this plan`)
    return object as ApiObject // what a workload becomes is one
  }
}
