import type { LocalContext } from '../../project/session.ts'
import type { MissingSource } from '../repository/source-order.ts'
import type { PublishEvent } from './events.ts'

/**
 * Returns a function that warns about a published commit that the new source does not contain. `place` is the folder or
 * reference that contains the commit.
 */
export const warnMissing =
  ({ on }: Pick<LocalContext<PublishEvent>, 'on'>, place: string) =>
  ({ source, ours, isRequest }: MissingSource): void => {
    const [theirs, own] = [source.slice(0, 7), ours.slice(0, 7)]
    const holds = isRequest ? `the pull request for \`${place}\`` : `\`${place}\``
    on({
      type: 'warning',
      text: `${holds} holds ${theirs}, which is not contained in ${own}: its changes are undone`,
      hint: `merge ${theirs}, or rebase onto it, and publish again; \`--rollback\` publishes without this warning`,
    })
  }
