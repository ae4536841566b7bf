import { changeFile } from '../../adapters/files/locked-file.ts'
import { putNamedItems } from '../../adapters/files/yaml-named-items.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { EXTENSION, type KubeconfigNames } from './kubeconfig-names.ts'

/** Entry of a platform in the kubeconfig. */
export interface PlatformEntry {
  /** URL of the platform, which is also the name of its devctl context. */
  readonly platform: string
  readonly namespace: string
  readonly kubernetes: { readonly server: string; readonly ca?: string }
  /** Program that runs devctl to print a token, and the arguments that precede the arguments of devctl. */
  readonly program: { readonly command: string; readonly args: readonly string[] }
  /** Environment variables that the program needs. */
  readonly env: Readonly<Record<string, string>>
}

/** Returns the name of a platform in a kubeconfig: its host, with underscores. */
export const kubeconfigName = (platform: string): string => new URL(platform).host.replaceAll(/[.:[\]]/g, '_')

/**
 * Writes a platform into the user's kubeconfig, as the current context, with a plugin that provides the token to
 * kubectl, so that no token is in the file. Returns the changed files. Throws a UserError if a context of this name
 * exists that devctl did not write.
 */
export async function putInKubeconfig(
  { paths, currentPath, contexts }: KubeconfigNames,
  entry: PlatformEntry,
): Promise<readonly string[]> {
  const name = kubeconfigName(entry.platform)
  const before = contexts.get(name)
  if (before && before.platform === undefined)
    throw new UserError(`the kubeconfig has a context \`${name}\` already, which is not a devctl platform`, {
      hint: `\`kubectl config rename-context ${name} NEW\` gives it another name`,
    })
  const holder = before?.path ?? paths[0]!
  // The first file that names a current context wins, as for kubectl.
  const first = currentPath ?? holder
  const current = { 'current-context': name }
  await write(holder, itemsOf(name, entry), {
    apiVersion: 'v1',
    kind: 'Config',
    ...(first === holder && current),
  })
  if (first !== holder) await write(first, [], current)
  return [...new Set([holder, first])]
}

function itemsOf(name: string, { platform, namespace, kubernetes, program, env }: PlatformEntry) {
  const { server, ca } = kubernetes
  const data = ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }
  const extensions = [{ name: EXTENSION, extension: { platform } }]
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: program.command,
    args: [...program.args, 'kubeconfig', '--exec-credential', '--context', platform],
    env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
    interactiveMode: 'Never',
    installHint: `\`devctl\` gives kubectl its token: install it, or run \`devctl kubeconfig\` again`,
  }
  return [
    { list: 'clusters', item: { name, cluster: { server, ...data } } },
    { list: 'users', item: { name, user: { exec } } },
    { list: 'contexts', item: { name, context: { cluster: name, user: name, namespace, extensions } } },
  ]
}

async function write(
  path: string,
  items: Parameters<typeof putNamedItems>[1],
  texts: Readonly<Record<string, string>>,
): Promise<void> {
  await changeFile(path, {
    shown: path,
    isPrivate: false,
    async edit(text) {
      const edited = await putNamedItems(text ?? '', items, texts)
      if (edited.ok) return edited.text
      throw new UserError(`cannot write the platform into \`${path}\`: ${edited.problem}`, {
        hint: 'name another file first in `KUBECONFIG`',
      })
    },
  })
}
