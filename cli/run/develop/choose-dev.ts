import type { ChooseDev } from '../../../develop/select/choose.ts'
import type { Io } from '../../terminal/io.ts'

/** Returns the function that asks for one of several development containers; undefined if no user can be asked. */
export const chooseDevFor = ({ choose }: Io): ChooseDev | undefined =>
  choose &&
  (names =>
    choose(
      'Which development container?',
      names.map(value => ({ value })),
    ))
