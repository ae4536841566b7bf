import { spawn } from 'node:child_process'

type Env = Readonly<Record<string, string | undefined>>

/**
 * Time to wait for the exit status of a program that opens a page, in milliseconds. A program that runs longer counts
 * as successful.
 */
const START = 3000

/**
 * Returns the program that opens a page for the user of this machine, and its arguments; undefined if no user can see
 * the page: in a pipeline, over SSH, without a display.
 */
export function browserCommand(env: Env, system: string = process.platform): readonly string[] | undefined {
  if (env.CI || env.SSH_CONNECTION || env.SSH_TTY || env.SSH_CLIENT) return undefined
  // The variable may contain a list (https://www.freedesktop.org/wiki/); the first entry is used.
  const own = env.BROWSER?.split(':')[0]
  if (own) return [own]
  if (system === 'darwin') return ['open']
  // Runs without a shell, because `&` in an address would end the command.
  if (system === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  if (env.WSL_DISTRO_NAME) return ['wslview']
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : undefined
}

/** Opens a page. Resolves to false if the program does not exist, or fails at once. */
export function openPage(command: readonly string[], page: string, env: Env): Promise<boolean> {
  const [program = '', ...words] = command
  return new Promise<boolean>(resolve => {
    const child = spawn(program, [...words, page], {
      detached: true,
      stdio: 'ignore',
      env: env as NodeJS.ProcessEnv, // undefined values are left out
    })
    // A browser in the foreground runs until its window is closed.
    const timer = setTimeout(() => resolve(true), START)
    timer.unref()
    child.once('error', () => done(false))
    child.once('exit', status => done(status === 0))
    child.unref()
    function done(isOpen: boolean): void {
      clearTimeout(timer)
      resolve(isOpen)
    }
  }).catch(() => false) // Node throws some errors, such as ENOTDIR.
}
