import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { Span } from '../../../text/source.ts'
import { get, isMap, type MapTree, type Tree, type UsedVariable } from '../../../text/tree.ts'
import { FROM_SHELL, type VariableScope } from '../variables.ts'

const machineVariable = diagnostic({
  code: 'variables/of-this-machine',
  severity: 'warning',
  explain: `Variables in a Compose file are substituted on the machine that runs devctl, as Docker Compose does. \`PATH\`, \`HOME\`, \`USER\` and the like describe this machine, its folders and its user. They are rarely right in a container, and another machine writes other manifests.

\`\`\`yaml
services:
  web:
    environment:
      PATH: $PATH:/app/bin              # the PATH of this machine
    command: sh -c 'cd $$HOME && ./run' # $$: the HOME of the container
\`\`\`

In a command, write \`$$\` for a variable of the container. In \`environment\`, write the value that the container needs: \`docker run --rm IMAGE printenv PATH\` prints that of the image. If the value of another machine is needed, use a variable with another name, such as \`APP_USER\`, and set it in \`.env\`: the shell wins over \`.env\`.`,
  text: (p: { name: string; where: Where }) => ({
    message: `the \`${p.name}\` of this machine enters the ${p.where === 'build' ? 'image' : 'container'}`,
    hint:
      p.where === 'command'
        ? `for the variable of the container, write \`$$${p.name}\``
        : 'write the value that the container needs, or use a variable with another name',
  }),
})

type Where = 'command' | 'values' | 'build'

/** Shell variables that describe the machine and its user. */
const OF_MACHINE: ReadonlySet<string> = new Set([
  'DISPLAY',
  'HOME',
  'HOSTNAME',
  'LD_LIBRARY_PATH',
  'LOGNAME',
  'OLDPWD',
  'PATH',
  'PWD',
  'SHELL',
  'SSH_AUTH_SOCK',
  'TEMP',
  'TMP',
  'TMPDIR',
  'USER',
  'USERNAME',
  'XDG_RUNTIME_DIR',
])

/** Service keys whose values end up in the container or in its image. */
const KEYS: readonly (readonly [where: Where, ...path: readonly string[]])[] = [
  ['values', 'environment'],
  ['values', 'working_dir'],
  ['command', 'command'],
  ['command', 'entrypoint'],
  ['command', 'healthcheck', 'test'],
  ['command', 'pre_start'],
  ['command', 'post_start'],
  ['command', 'pre_stop'],
  ['build', 'build', 'args'],
]

/**
 * Reports variables such as `PATH` if their value on this machine ends up in a container or in the content of a config.
 */
export function reportMachineVariables(model: MapTree, variables: VariableScope, reporter: Reporter): void {
  const seen = new Set<Tree>()
  const check = (tree: Tree | undefined, where: Where): void => {
    if (!tree || seen.has(tree)) return
    seen.add(tree)
    if (tree.kind === 'map') for (const [key, { value }] of tree.entries) check(value, inside(where, key))
    else if (tree.kind === 'seq') for (const item of tree.items) check(item, where)
    else
      for (const { name, origin, span } of tree.variables ?? [])
        if (origin === FROM_SHELL) reportMachineVariable(name, String(tree.value), span, { where, variables, reporter })
  }
  for (const service of valuesOf(model, 'services'))
    for (const [where, ...path] of KEYS) check(get(service, ...path), where)
  for (const config of valuesOf(model, 'configs')) check(get(config, 'content'), 'values')
}

/** Reports a variable such as `PATH` if the text contains its value on this machine. */
export function reportMachineVariable(
  name: UsedVariable['name'],
  text: string,
  span: Span,
  { where = 'values', variables, reporter }: { where?: Where; variables: VariableScope; reporter: Reporter },
): void {
  if (!OF_MACHINE.has(name)) return
  const variable = variables.lookup(name)
  if (variable?.origin === FROM_SHELL && variable.value !== '' && text.includes(variable.value))
    reporter.report(machineVariable, span, { name, where })
}

/**
 * Returns the kind of value below a key. In a hook, `environment` has plain values, and all other keys are part of the
 * command.
 */
const inside = (where: Where, key: string): Where => (where === 'command' && key === 'environment' ? 'values' : where)

const valuesOf = (model: MapTree, section: string): readonly Tree[] => {
  const entries = get(model, section)
  return isMap(entries) ? [...entries.entries.values()].map(({ value }) => value) : []
}
