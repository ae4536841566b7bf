import type { ShownService } from '../../api/environments.ts'
import { layered, NODE } from '../state/layered.ts'
import { Icon } from './icon.tsx'
import { workloadState } from './state.tsx'

interface GraphProps {
  readonly services: readonly ShownService[]
  readonly chosen: string | undefined
  readonly addressOfService: (name: string) => string
}

/** Services and what each waits for. The table says the same. */
export function Graph({ services, chosen, addressOfService }: GraphProps) {
  const { width, height, nodes, edges } = layered(services)
  const byName = new Map(services.map(one => [one.name, one]))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide graph is scrolled, by keyboard too
    <section class="graph" tabIndex={0} aria-label="Services by what they depend on">
      <div class="graph-paper" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg width={width} height={height} aria-hidden="true" focusable="false">
          <defs>
            <marker id="tip" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path class="graph-tip" d="M1 1 6.5 4 1 7z" />
            </marker>
          </defs>
          {edges.map(({ from, to, path }) => (
            <path
              key={`${from} ${to}`}
              class={from === chosen || to === chosen ? 'graph-edge is-chosen' : 'graph-edge'}
              d={path}
              marker-end="url(#tip)"
            />
          ))}
          {edges.map(
            ({ from, to, label, labelX, labelY }) =>
              label !== undefined && (
                <text key={`${from} ${to}`} class="graph-label" x={labelX} y={labelY + 4} text-anchor="middle">
                  {label}
                </text>
              ),
          )}
        </svg>
        {nodes.map(({ name, x, y }) => {
          const service = byName.get(name)
          if (!service) return null
          const { tone, icon, word } = workloadState(service.state)
          return (
            <a
              key={name}
              class={`node tone-${tone}`}
              href={addressOfService(name)}
              aria-current={name === chosen ? 'true' : undefined}
              style={{ left: `${x}px`, top: `${y}px`, width: `${NODE.width}px`, height: `${NODE.height}px` }}
            >
              <span class="state-icon">
                <Icon name={icon} size={12} />
              </span>
              <span class="node-text">
                <span class="strong cut">{name}</span>
                <span class="node-state cut">
                  {word}
                  {service.wanted > 0 && service.kind !== 'Job' && ` ${service.ready}/${service.wanted}`}
                  {service.development !== undefined && ` · ${service.development} develops`}
                </span>
              </span>
            </a>
          )
        })}
      </div>
    </section>
  )
}
