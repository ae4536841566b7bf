import type { ShownService } from '../../api/environments.ts'
import { layered, NODE, type WaitsFor } from '../state/layered.ts'
import { Icon } from './icon.tsx'
import { workloadState } from './state.tsx'

interface GraphProps {
  readonly services: readonly ShownService[]
  readonly chosen: string | undefined
  readonly addressOfService: (name: string) => string
}

/** Draws services and their dependencies as a graph. The table of services contains the same information as text. */
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
          {edges.map(({ from, to, waitsFor, path }) => (
            <path
              key={`${from} ${to}`}
              class={`graph-edge ${waitsFor}${from === chosen || to === chosen ? ' is-chosen' : ''}`}
              d={path}
              marker-end="url(#tip)"
            />
          ))}
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
      <Legend shown={new Set(edges.map(({ waitsFor }) => waitsFor))} />
    </section>
  )
}

const LEGEND: readonly (readonly [of: WaitsFor, text: string])[] = [
  ['started', 'starts after'],
  ['healthy', 'waits until healthy'],
  ['completed', 'waits until completed'],
]

/**
 * Explains the line styles in a legend, because labels would hide the lines. Renders nothing if all lines are plain.
 */
const Legend = ({ shown }: { readonly shown: ReadonlySet<WaitsFor> }) =>
  shown.has('healthy') || shown.has('completed') ? (
    <ul class="graph-legend soft">
      {LEGEND.filter(([of]) => shown.has(of)).map(([of, text]) => (
        <li key={of}>
          <svg width="32" height="8" aria-hidden="true" focusable="false">
            <path class={`graph-edge ${of}`} d="M0 4H32" />
          </svg>
          {text}
        </li>
      ))}
    </ul>
  ) : null
