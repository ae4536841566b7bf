import type { ShownEnvironment } from '../../api/environments.ts'
import { addressOf } from '../../api/pages.ts'
import { Deployed } from './deployed.tsx'
import { Icon } from './icon.tsx'
import { OutsideLink } from './link.tsx'
import { stateOfEnvironment } from './namespace-state.tsx'
import { InlineCode } from './problem.tsx'
import { State } from './state.tsx'

/** Maximum number of endpoints in a row; the page of the environment shows all. */
const SHOWN = 3

/** Lists the environments of a namespace, one per row, with state, endpoints, and problems. */
export const Environments = ({ ns, items }: { readonly ns: string; readonly items: readonly ShownEnvironment[] }) => (
  <ul class="list">
    {items.map(({ name, state, services, ready, endpoints, deployed, problem, waits }) => (
      <li key={name} class="row environment">
        <span class="row-main block">
          <a class="row-name cut stretched" href={addressOf('environment', { ns, env: name })}>
            {name}
          </a>
          {deployed && (
            <span class="soft cut">
              <Deployed deploy={deployed} />
            </span>
          )}
        </span>
        <span class="endpoints">
          {endpoints.slice(0, SHOWN).map(one => (
            <OutsideLink key={one} href={one} />
          ))}
        </span>
        <span class="row-state">
          <State {...stateOfEnvironment(ns, { name, state })} />
          <span class="soft">
            {ready} of {services} ready
          </span>
        </span>
        <Icon name="right" size={14} />
        {problem && (
          <p class="row-note">
            <span class="strong">{problem.service}: </span>
            <InlineCode text={problem.reason} />
          </p>
        )}
        {!problem && waits && (
          <p class="row-note soft">
            <span class="strong">{waits.service}: </span>
            <InlineCode text={waits.reason} />
          </p>
        )}
      </li>
    ))}
  </ul>
)
