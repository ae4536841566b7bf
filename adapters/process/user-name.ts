import { userInfo } from 'node:os'

/**
 * Returns the name of the user who runs this process. In a container, a user often has a number only, and no entry in
 * `/etc/passwd`; in this case, the name is taken from the environment, or else is the number.
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
