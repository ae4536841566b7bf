import { printable } from '../../../compiler/values/printable.ts'
import type { ShownChanges } from '../../api/environments.ts'
import { Deployed } from './deployed.tsx'
import { Icon } from './icon.tsx'

const MARKS: Readonly<Record<string, readonly [mark: string, word: string]>> = {
  create: ['+', 'created'],
  update: ['~', 'changed'],
  replace: ['!', 'replaced'],
  delete: ['−', 'deleted'],
}

/** Lists the changes that the last deploys made; the newest deploy is expanded. */
export const Changes = ({ history }: { readonly history: readonly ShownChanges[] }) => (
  <div class="list">
    {history.map((one, index) => (
      <details key={one.number} class="changes" open={index === 0}>
        <summary class="row">
          <Icon name="right" size={14} />
          <span class="strong">#{one.number}</span>
          <span class="row-main soft">
            <Deployed deploy={one} />
          </span>
          <span class="soft">{objects(one.changes.length + (one.left ?? 0))}</span>
        </summary>
        <ul class="change-list">
          {one.changes.map(({ action, object, service, values, consequence }) => {
            const [mark, word] = MARKS[action] ?? ['·', action]
            return (
              <li key={object} class={`change change-${action}`}>
                <p>
                  <span class="change-mark" aria-hidden="true">
                    {mark}
                  </span>
                  <code>{printable(object)}</code>
                  <span class="soft">
                    {word}
                    {service !== undefined && ` · ${printable(service)}`}
                  </span>
                </p>
                {values.map(({ path, before, after, masked }) => (
                  <p key={path} class="change-value">
                    <code>{printable(path)}</code>
                    {masked !== undefined ? (
                      <span class="soft">{printable(masked)}</span>
                    ) : (
                      <span>
                        {before !== undefined && <del>{printable(before)}</del>}
                        {before !== undefined && after !== undefined && <span class="soft"> → </span>}
                        {after !== undefined && <ins>{printable(after)}</ins>}
                      </span>
                    )}
                  </p>
                ))}
                {consequence !== undefined && <p class="change-value soft">{printable(consequence)}</p>}
              </li>
            )
          })}
          {(one.unapplied ?? []).map(({ object }) => (
            <li key={object} class="soft">
              <code>{printable(object)}</code> was not changed, as the deploy ended before
            </li>
          ))}
          {one.left !== undefined && one.left > 0 && <li class="soft">and {one.left} more</li>}
        </ul>
      </details>
    ))}
  </div>
)

const objects = (count: number): string => (count === 1 ? '1 object' : `${count} objects`)
