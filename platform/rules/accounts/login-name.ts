/** Regular expression for the names of users without a provider. */
export const LOGIN = '^[A-Za-z0-9][-A-Za-z0-9_.]{0,38}$'

/**
 * Converts a user name on a machine, such as `jörg` or `john doe`, to a user name that matches `LOGIN`; `admin` if no
 * usable characters remain.
 */
export function toLogin(name: string): string {
  const letters = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
  return (
    letters
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 39)
      .replace(/-+$/, '') || 'admin'
  )
}
