import { hasOktetoName } from '../../compiler/manifest/okteto-variables.ts'

/**
 * Returns the variables and, for each variable that Okteto has under another name, a copy with this name, such as
 * `OKTETO_NAME` for `DEVCTL_NAME`.
 */
export function withOktetoNames(env: Readonly<Record<string, string>>): Record<string, string> {
  const theirs = Object.entries(env)
    .filter(([name]) => hasOktetoName(name))
    .map(([name, value]) => [name.replace('DEVCTL_', 'OKTETO_'), value])
  return { ...env, ...Object.fromEntries(theirs) }
}
