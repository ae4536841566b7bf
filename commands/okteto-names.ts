import { hasOktetoName } from '../compiler/manifest/okteto-variables.ts'

/** Returns the variables and copies of some of them under Okteto's names, such as `OKTETO_NAME` for `DEVCTL_NAME`. */
export function withOktetoNames(env: Readonly<Record<string, string>>): Record<string, string> {
  const theirs = Object.entries(env)
    .filter(([name]) => hasOktetoName(name))
    .map(([name, value]) => [name.replace('DEVCTL_', 'OKTETO_'), value])
  return { ...env, ...Object.fromEntries(theirs) }
}
