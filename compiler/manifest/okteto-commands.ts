import { items } from '../compose/read/tree-values.ts'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import { spanInside } from '../text/span-inside.ts'
import { get, isMap, isScalar, type MapTree, type Tree } from '../text/tree.ts'

const callsOkteto = diagnostic({
  code: 'okteto/command',
  severity: 'warning',
  explain: `A command of \`deploy\` or \`destroy\` calls the program \`okteto\`, which talks to an Okteto platform and not to the cluster of devctl. The message has the equivalent of devctl.`,
  // A group of warnings shows only the first hint, so the advice is part of the message.
  text: (p: { call: string; instead: string }) => ({
    message: `the command calls \`${p.call}\`, which talks to an Okteto platform: ${p.instead}`,
  }),
})

/** Hints on how to replace a call of `okteto`, by its first argument. */
const INSTEAD: Readonly<Record<string, string>> = {
  build: 'remove it: the images of `build` are built before the commands; `devctl build` builds others',
  deploy: 'add the other repository to `dependencies`, or call `devctl deploy --file FILE --name NAME`',
  destroy: 'call `devctl destroy --name NAME`',
  pipeline: 'add the other repository to `dependencies`, or call `devctl pipeline`',
  preview: 'call `devctl preview`',
  kubeconfig: 'remove it: `kubectl` and `helm` already use the cluster of the environment',
  context: 'remove it: `kubectl` and `helm` already use the cluster of the environment',
  namespace: 'call `devctl namespace`, or choose the namespace with `--namespace`',
  endpoints: 'call `devctl endpoints`',
  exec: 'call `devctl exec`',
  logs: 'call `devctl logs`',
  test: 'run the tests themselves in the command',
  up: 'run `devctl up` in a terminal instead',
}
/** Matches `okteto` at the beginning of a shell command. */
const CALL =
  /(?:^|[;&|(`]|\b(?:then|do|else|sudo|exec)[ \t])[ \t]*((?:\/\S*bin\/)?okteto(?:[ \t]+([a-z][\w-]*))?)(?=[\s;&|)`]|$)/gm

/** Reports commands that call `okteto`. */
export function reportOktetoCommands(tree: MapTree, reporter: Reporter): void {
  for (const section of ['deploy', 'destroy'])
    for (const command of commandsOf(get(tree, section))) {
      if (!isScalar(command) || typeof command.value !== 'string') continue
      for (const { 0: whole, 1: call, 2: verb = '', index } of command.value.matchAll(CALL)) {
        const start = index + whole.length - call!.length
        reporter.report(callsOkteto, spanInside(command, start, start + call!.length), {
          call: call!.replace(/^\/\S*\//, '').replace(/\s+/, ' '),
          instead: INSTEAD[verb] ?? 'use the equivalent of devctl: `devctl help`',
        })
      }
    }
}

function commandsOf(section: Tree | undefined): readonly (Tree | undefined)[] {
  const all = section?.kind === 'seq' ? section.items : items(section, 'commands')
  return all.map(one => (isMap(one) ? get(one, 'command') : one))
}
