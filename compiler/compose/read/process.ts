import type { MapTree } from '../../text/tree.ts'
import type { Service } from '../project.ts'
import { filledText, flag, list, words } from './tree-values.ts'

type ProcessFields = Pick<
  Service,
  'command' | 'entrypoint' | 'workingDir' | 'init' | 'user' | 'groupAdd' | 'stdinOpen' | 'tty'
>

/** What the container runs and as whom: `command`, `entrypoint`, `working_dir`, `init`, `user`, `group_add`, `stdin_open`, `tty`. */
export function readProcess(service: MapTree): ProcessFields {
  return {
    command: words(service, 'command'),
    entrypoint: words(service, 'entrypoint'),
    workingDir: filledText(service, 'working_dir'),
    init: flag(service, 'init'),
    user: filledText(service, 'user'),
    groupAdd: list(service, 'group_add'),
    stdinOpen: flag(service, 'stdin_open')?.value ?? false,
    tty: flag(service, 'tty')?.value ?? false,
  }
}
