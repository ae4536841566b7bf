import { userInfo } from 'node:os'

/**
 * Returns the name of the user who runs this process. In a container, a user often has only a number, and no entry in
 * `/etc/passwd`. In this case, returns the name in the environment, or the number if there is none.
 */
export function userName(
  env: Readonly<Record<string, string | undefined>>,
  find: () => string = () => userInfo().username,
): string {
  try {
    return find()
  } catch {
    return env.USER || env.LOGNAME || String(process.getuid?.() ?? 'user')
  }
}
