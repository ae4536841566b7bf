import { type ApiObject, Chart } from 'cdk8s'
import type { Construct } from 'constructs'
import { renderDiagnostics } from '../compiler/diagnostics/render/text.ts'
import { type Compilation, type CompilerHost, compile, type Diagnostic, type Plan } from '../compiler/index.ts'
import type { LoadOptions, PlanOptions } from '../compiler/options.ts'
import { Application } from './application.ts'

export type { CompilerHost, Diagnostic } from '../compiler/index.ts'

/** The options of `devctl render`. The namespace defaults to the chart's namespace. */
export interface ComposeApplicationProps extends PlanOptions, Omit<LoadOptions, 'files' | 'stdin' | 'until'> {
  /**
   * The Compose file, or several files that are merged from left to right. Relative paths are resolved against
   * `workingDirectory`.
   */
  readonly file: string | readonly string[]
  /** Access to files and variables. */
  readonly host: CompilerHost
}

/**
 * A Compose application within a cdk8s chart, with the objects that `devctl render` prints. The chart may contain other
 * constructs, too. Throws one Error with all messages if the files contain errors.
 */
export class ComposeApplication extends Application {
  /** Warnings and remarks about the files. */
  readonly diagnostics: readonly Diagnostic[]
  readonly #workloads: ReadonlyMap<string, ApiObject>

  constructor(scope: Construct, id: string, props: ComposeApplicationProps) {
    const { plan, diagnostics } = compileFor(scope, props)
    super(scope, id, plan)
    this.diagnostics = diagnostics
    this.#workloads = new Map(
      plan.workloads.flatMap(workload =>
        workload.pod.services.map(service => [service, this.objectOf(workload)] as const),
      ),
    )
  }

  /** Returns the warnings and remarks as readable text; empty if there are none. */
  get report(): string {
    return renderDiagnostics(this.diagnostics)
  }

  /**
   * Returns the Deployment, StatefulSet, DaemonSet or Job of a service, or the first CronJob of a job, so that a
   * program can read its name or patch it. `service` is the Kubernetes name. Throws an Error if the application does
   * not have the service.
   */
  workload(service: string): ApiObject {
    const found = this.#workloads.get(service)
    if (found) return found
    const known = [...this.#workloads.keys()].map(name => `\`${name}\``).join(', ')
    throw new Error(`the application has no service \`${service}\`; it has ${known || 'none'}`)
  }
}

function compileFor(scope: Construct, props: ComposeApplicationProps): Compilation & { readonly plan: Plan } {
  const { file, host, ...options } = props
  const files = typeof file === 'string' ? [file] : file
  const namespace = props.namespace ?? Chart.of(scope).namespace
  const compilation = compile({ ...options, files, ...(namespace !== undefined && { namespace }) }, host)
  const { plan, diagnostics } = compilation
  if (!plan) throw new Error(`${files.join(', ')} cannot be compiled\n${renderDiagnostics(diagnostics)}`)
  return { ...compilation, plan }
}
