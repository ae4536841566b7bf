import { hasOktetoName } from '../../compiler/manifest/okteto-variables.ts'

/**
 * Returns the variables together with copies under Okteto's names, for each variable that Okteto also has:
 * `OKTETO_NAME` for `DEVCTL_NAME`.
 */
export function withOktetoNames(env: Readonly<Record<string, string>>): Record<string, string> {
  const theirs = Object.entries(env)
    .filter(([name]) => hasOktetoName(name))
    .map(([name, value]) => [name.replace('DEVCTL_', 'OKTETO_'), value])
  return { ...env, ...Object.fromEntries(theirs) }
}
