import { hasOktetoName } from '../../compiler/manifest/okteto-variables.ts'

/** Adds the variables of devctl that Okteto has, too, under their Okteto names: `OKTETO_NAME` for `DEVCTL_NAME`. */
export function withOktetoNames(env: Readonly<Record<string, string>>): Record<string, string> {
  const theirs = Object.entries(env)
    .filter(([name]) => hasOktetoName(name))
    .map(([name, value]) => [name.replace('DEVCTL_', 'OKTETO_'), value])
  return { ...env, ...Object.fromEntries(theirs) }
}
