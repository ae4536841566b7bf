import type { PlanOptions } from '../compiler/options.ts'
import type { Plan } from '../compiler/plan/plan.ts'
import type { At, Span } from '../compiler/text/source.ts'
import type { PlanInput } from '../project/input.ts'
import type { OpenProject } from '../project/opened-project.ts'

/** Setting of the environment, from an option, the manifest or the shell, and other values to try for it. */
export interface PlanSetting {
  /** Key of the manifest, such as `namespace`. */
  readonly key: string
  readonly value: string
  /**
   * Origin of the value, such as `--namespace`, `$DEVCTL_NAMESPACE`, or a description. Absent if `span` is the position
   * of the value.
   */
  readonly from?: string
  readonly span?: Span
  /** True if nothing sets the value, so it is a default. */
  readonly isDefault?: true
  readonly changes: readonly PlanOptions[]
}

interface Sources {
  readonly plan: Plan
  readonly input: PlanInput
  readonly project: OpenProject
  readonly env: Readonly<Record<string, string | undefined>>
  /** Position of the top-level `name` in the Compose files; undefined if there is none. */
  readonly nameSpan: Span | undefined
}

/** Lists the settings that influence manifests, with the origin that took precedence. */
export function settingsOf({ plan, input, project, env, nameSpan }: Sources): readonly PlanSetting[] {
  const { environment, manifest } = project
  const { name, namespace } = plan.environment
  const found: PlanSetting[] = [
    {
      key: 'name',
      value: name,
      ...(input.name !== undefined
        ? { from: '--name' }
        : spanOf(environment?.name ?? (project.namesCompose ? undefined : manifest?.name), nameSpan, {
            from: 'the name of the repository or folder',
            isDefault: true,
          })),
      changes: [{ name: `${name}x` }],
    },
  ]
  const add = (
    key: Exclude<TextSetting, 'name'>,
    written: readonly (At<string> | undefined)[],
    variable?: string,
    now = input[key],
  ) => {
    const given = input[key]
    const [at] = written.filter(one => one !== undefined)
    const shell = variable === undefined ? undefined : env[variable] || undefined
    const value = given ?? at?.value ?? shell ?? now
    if (value === undefined) return
    const from = given !== undefined ? { from: `--${dashed(key)}` } : at ? { span: at.span } : { from: `$${variable}` }
    found.push({ key: dashed(key), value, ...from, changes: [{ [key]: `${value}x` }, { [key]: undefined }] })
  }
  // The variable takes precedence over the top level of the manifest.
  const ofManifest = env['DEVCTL_NAMESPACE'] ? undefined : manifest?.namespace
  add('namespace', [environment?.namespace, ofManifest], 'DEVCTL_NAMESPACE', namespace)
  add('domain', [environment?.domain, manifest?.domain])
  add('registry', [environment?.registry, manifest?.registry], 'DEVCTL_REGISTRY')
  add('tag', [])
  add('gateway', [environment?.gateway])
  add('ingressClass', [environment?.ingressClass])
  add('tlsSecret', [environment?.tlsSecret])
  if (input.policy ?? environment?.policy)
    found.push({
      key: 'policy',
      value: 'restricted',
      ...(input.policy ? { from: '--policy' } : spanOf(environment)),
      changes: [{ policy: undefined } as unknown as PlanOptions], // removes an option that is set
    })
  if (input.startOrder === 'client')
    found.push({
      key: 'start-order',
      value: 'client',
      from: '--start-order',
      changes: [{ startOrder: 'manifest' }],
    })
  for (const { name: service, value, key, span } of environment?.images ?? [])
    if (!input.image?.has(service))
      found.push({ key: `images.${service}`, value, span: key ?? span, changes: [imageOf(service, `${value}x`)] })
  for (const [service, value] of input.image ?? [])
    found.push({ key: 'image', value, from: `--image ${service}=`, changes: [imageOf(service, `${value}x`)] })
  return found
}

type TextSetting = 'name' | 'namespace' | 'domain' | 'registry' | 'tag' | 'gateway' | 'ingressClass' | 'tlsSecret'

const imageOf = (service: string, reference: string): PlanOptions => ({ images: new Map([[service, reference]]) })

const dashed = (key: string): string => key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

function spanOf(
  at: { readonly span: Span } | undefined,
  span: Span | undefined = undefined,
  otherwise: Pick<PlanSetting, 'from' | 'isDefault'> = {},
): Pick<PlanSetting, 'from' | 'span' | 'isDefault'> {
  const found = at?.span ?? span
  return found ? { span: found } : otherwise
}
