import type { ChooseDev } from '../../../develop/select/choose.ts'
import type { Io } from '../../terminal/io.ts'

/** Asks for one of several development containers; undefined where nobody can be asked. */
export const chooseDevFor = ({ choose }: Io): ChooseDev | undefined =>
  choose &&
  (names =>
    choose(
      'Which development container?',
      names.map(value => ({ value })),
    ))
