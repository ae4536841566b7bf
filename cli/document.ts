import { type Command, commandsBelow } from './command.ts'
import { fullHelp, optionsHelp } from './help/help.ts'

const INTRODUCTION = `# Command line

    devctl [options] <command> [parameters]

Results go to standard output. Diagnostics, progress and summaries go to standard error, so
\`devctl render | kubectl apply -f -\` is safe. Colours are used on a terminal, and in the logs
of GitHub Actions and GitLab CI for what goes to standard error: standard output may be read by a program.

| exit status | meaning |
|---|---|
| 0 | success |
| 1 | error: the input has errors, or something could not be read or written |
| 2 | usage error: an unknown command or option, or an invalid option value |
| 3 | \`diff --exit-code\` found differences |
| 126, 127 | \`exec\` and \`run\`: the program is not executable, or does not exist in the container |
| 130 | interrupted |

An option means the same for every command that has it; \`devctl help options\` prints those that many commands have.
\`devctl COMMAND --help\` prints the help that fits on a screen, \`devctl help COMMAND\` all of it, and \`devctl help\` all
commands and the common options.

| short | long | meaning |
|---|---|---|
| \`-f\` | \`--file\` | the file to read; in \`logs\`, \`-f\` is \`--follow\`, as in all programs that print logs |
| \`-n\` | \`--namespace\` | the namespace |
| \`-o\` | \`--output\` | the format of standard output |
| \`-q\` | \`--quiet\` | only errors, and no results: the exit status tells whether the command succeeded |
| \`-v\` | \`--verbose\` | \`--log-level info\`; twice (\`-vv\`) for \`--log-level debug\`; in \`destroy\`, \`-v\` is \`--volumes\`, as in \`docker compose down\` |
| \`-y\` | \`--yes\` | no questions |

\`--output\` is the format of what the command prints on standard output. For most commands, that is a list, a record or
a report; \`render\` and \`config\` print a document, and \`--output\` is its format. Diagnostics stay on standard error.

| \`--output\` | what is printed |
|---|---|
| \`text\` | lines or a table, for people |
| \`wide\` | a table with more columns, and with nothing cut |
| \`json\`, \`yaml\` | all fields, for programs |
| \`name\` | the names alone, one per line |
| \`md\` | Markdown, such as for a comment |
| \`sarif\` | SARIF, for code scanning |
| \`kustomize\` | \`render\`: files with a kustomization.yaml |

Older spellings keep working: \`--loglevel\` for \`--log-level\`, \`--sourceUrl\` for \`--source-url\`, and \`--format\` of
\`render\` and \`config\` for \`--output\`.

Node.js has an option \`--env-file\`, too, and takes it from anywhere on its command line: it obeys \`NODE_OPTIONS\` in that
file, which can load code, and exits with status 9 if the file does not exist. \`devctl\` prevents that. To start the
script with a certain Node.js, use \`node -- bin/devctl.cjs …\`.

| \`--log-level\` | what is shown |
|---|---|
| \`error\` | errors |
| \`warn\` | errors, warnings and summaries; the default |
| \`info\` | also remarks about choices that devctl made |
| \`debug\` | also every request to the cluster, with its status and time, but never its body |

| variable | meaning |
|---|---|
| \`COMPOSE_FILE\`, \`COMPOSE_PATH_SEPARATOR\`, \`COMPOSE_PROFILES\`, \`COMPOSE_PROJECT_NAME\` | as for Compose |
| \`COMPOSE_ENV_FILES\` | files with variables, separated by commas, if neither \`--env-file\` nor the environment of the manifest names any; as for Compose, only in the shell |
| \`DEVCTL_CONTEXT\`, \`DEVCTL_NAMESPACE\` | the context and the namespace, if \`--context\` and \`--namespace\` are not given |
| \`DEVCTL_DOMAIN\` | the domain of \`build\`, \`deploy\` and \`diff\`, if neither their options nor the manifest name one |
| \`DEVCTL_REGISTRY\` | the registry of built images, if neither options nor the manifest name one |
| \`DEVCTL_URL\` | the platform, such as \`https://platform.example.com\`; takes precedence over \`DEVCTL_CONTEXT\` |
| \`DEVCTL_TOKEN\` | an API token of the platform of \`DEVCTL_URL\`; no other one gets it |
| \`DEVCTL_ID_TOKEN\` | in a CI job: the token of the CI system, issued for the URL of the platform, with which \`devctl context use URL\` logs in; GitHub Actions needs no variable |
| \`DEVCTL_CLONE_TOKEN\` | a token with which one run of \`pipeline deploy\` or \`preview deploy\` clones a private repository |
| \`DEVCTL_HOME\` | the folder for all files of devctl; default \`~/.devctl\` |
| \`XDG_CONFIG_HOME\`, \`XDG_STATE_HOME\`, \`XDG_CACHE_HOME\` | absolute paths; see [Files of devctl](#files-of-devctl) |
| \`DEVCTL_TIMEOUT\` | the deadline, if \`--timeout\` is not given |
| \`DEVCTL_TOLERATE_FAILURES\` | any value except \`0\` and \`false\`: as \`--tolerate-failures\` |
| \`DEVCTL_GIT_TOKEN\`, \`DEVCTL_GIT_USERNAME\` | the token and the user name for GitOps repositories at \`https://\` |
| \`DEVCTL_FORGE_TOKEN\` | the token that opens pull requests; gitops.md lists the tokens of each forge |
| \`DEVCTL_GIT_TOKEN_HOST\`, \`DEVCTL_FORGE_TOKEN_HOST\` | the hosts that may receive these tokens; default: the server of the pipeline |
| \`DEVCTL_ALLOW_OUTSIDE\` | folders outside of a project that its files may name, separated by \`:\`; \`devctl explain files/outside\` |
| \`DEVCTL_LIMITS\` | limits of a compilation that replace the defaults, such as \`ports=200000,context=4g\`; \`devctl explain limits/exceeded\` |
| \`DEVCTL_SEALING_KEY\` | the key that recognises unchanged values of sealed and SOPS-encrypted Secrets; default \`sealing.key\` in \`DEVCTL_HOME\` |
| \`KUBECONFIG\` | the kubeconfig, one file or several; default \`~/.kube/config\` |
| \`BUILDKIT_HOST\`, \`BUILDKIT_CERT_PATH\` | the address of the BuildKit that builds images, and the folder of its certificates; otherwise the builder of the context, the builders of the platform, or the local Docker Engine |
| \`DEVCTL_KEEPALIVE_CLIENT_TIME_MS\`, \`DEVCTL_KEEPALIVE_CLIENT_TIMEOUT_MS\`, \`DEVCTL_KEEPALIVE_CLIENT_PERMIT_WITHOUT_STREAM\` | for BuildKit: milliseconds without data after which devctl asks if the connection works (10000 at least; not set: never), how long it waits for the answer (default 20000), and \`true\` to ask between builds, too |
| \`DOCKER_HOST\`, \`DOCKER_CONTEXT\`, \`DOCKER_CONFIG\` | the Docker Engine and the logins of registries, as for Docker |
| \`HTTPS_PROXY\`, \`HTTP_PROXY\`, \`NO_PROXY\` | the proxy for the cluster, if the kubeconfig does not name one |
| \`DEVCTL_BASE_REGISTRY\` | a registry with copies of the images that devctl adds to Pods, for clusters that reach no other; deploy.md, Images |
| \`DEVCTL_AGENT_IMAGE\`, \`DEVCTL_TOOLS_IMAGE\` | the images of the agent and of the tools in development containers |
| \`DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED\` | \`false\`: services that share a volume need not run on the same node |
| \`DO_NOT_TRACK\` | \`1\`: devctl does not count commands for the platform (analytics.md); any value except \`0\` and \`false\` |
| \`GITHUB_ACTIONS\`, \`GITHUB_WORKSPACE\` | diagnostics are also printed as workflow annotations |
| \`NO_COLOR\` | no colours |
| \`FORCE_COLOR\`, \`CLICOLOR_FORCE\` | colours on both streams, even if they are no terminals, except in JSON and other formats for programs; \`FORCE_COLOR\` takes precedence over \`NO_COLOR\`, and \`0\` turns colours off |
| \`CI\` | no prompts, and plain lines instead of a live display |

## Contexts

A context of your kubeconfig is a cluster, a user and a namespace. A command uses the first of these contexts that
is set:

1. \`--context\`
2. the environment of the manifest
3. \`DEVCTL_URL\`, the URL of a platform
4. \`DEVCTL_CONTEXT\`
5. the top level of the manifest
6. \`devctl context use\`
7. the current context of the kubeconfig

The order is the same for the namespace: \`--namespace\`, the environment, \`DEVCTL_NAMESPACE\`, the manifest,
\`devctl namespace use\`, the kubeconfig, and then \`default\`. A context of the kubeconfig that \`devctl kubeconfig\` has
written for a platform stands for the platform. Commands without \`-f\`, such as \`kubeconfig\`, read no manifest.

The registry of built images comes from \`--registry\`, or else from the manifest (its environment, then its top level), and
then from \`DEVCTL_REGISTRY\`: for all commands. The domain of public routes comes from \`--domain\`, or else from the manifest
in the same way. For \`build\`, \`deploy\` and \`diff\`, which know a context, \`DEVCTL_DOMAIN\` comes next; then, for both, the context
(\`devctl context use NAME --domain DOMAIN --registry REGISTRY\`), and then the platform, if the context is one: its domain,
and the path of the namespace in its registry.

\`--log-level info\` prints what was chosen, and which setting decided. \`render\`, \`validate\` and \`config\` do not use
contexts, so their output is the same on every machine.

\`devctl context show\` and \`devctl context list\` print the builder and the registry of a context, without asking anybody. For a
platform, the builder is \`platform\` unless \`--builder\` has set one: its own builders, or the local Docker Engine if it has
none. Its registry is the one that it named at the login, in which each namespace has a path of its own; \`platform\`
if this machine has not been told, because of \`DEVCTL_TOKEN\` or a login of an older devctl; \`-\` if it had none.

\`devctl context use\` and \`devctl namespace use\` write only \`contexts.json\`. They do not change
your kubeconfig, and switching contexts with \`kubectl\` does not change where devctl works. \`devctl kubeconfig\`
makes \`kubectl\` use the same context. Only you can read the file (mode 0600), several commands may write it at the
same time, and no command prints a token.

devctl reads the kubeconfig as \`kubectl\` does: several files, credential plugins, client certificates, tokens and
token files, impersonation, proxies, \`insecure-skip-tls-verify\`, \`tls-server-name\`. If a cluster does not answer,
the command fails after 8 seconds. Once the cluster has answered, a command continues through short outages until
its \`--timeout\`.

\`devctl namespace create\`, \`delete\` and \`list\` need a platform, and so does a context that is a URL.

## Files of devctl

| what | without variables | with XDG variables |
|---|---|---|
| contexts, logins, the sealing key | \`~/.devctl\` | \`$XDG_CONFIG_HOME/devctl\` |
| sessions of \`up\` and their logs, entries for SSH clients, counted commands | \`~/.devctl\` | \`$XDG_STATE_HOME/devctl\` |
| compiled code, which makes commands start faster | \`~/.cache/devctl\` | \`$XDG_CACHE_HOME/devctl\` |

\`DEVCTL_HOME\` takes precedence for the first two rows. A \`~/.devctl\` that exists when you set an XDG variable stays in
use, so that no login is lost. To use the new folders, move its files there while no \`devctl up\` runs:
\`contexts.json\` and \`sealing.key\` to \`$XDG_CONFIG_HOME/devctl\`, the rest to \`$XDG_STATE_HOME/devctl\`. A folder
there that exists takes precedence over \`~/.devctl\`. Relative paths in these variables are ignored.

## The output folder

\`devctl render --output-dir k8s\` writes one file per object: \`k8s/<service>/<kind>-<name>.yaml\`, or \`k8s/_shared/…\`
for objects that services share. The file \`.devctl.lock\` in the folder lists the files that devctl wrote, each with
a fingerprint. Commit it with them. On later runs:

- A recorded file that devctl no longer generates is removed if it is unchanged, and so are folders that become empty.
- If a recorded file was edited by hand, or something else exists where a file belongs, the run stops before it
  writes anything and names the file. \`--take-over\` replaces such files, but never links or folders.
- Files that are not recorded are ignored. Files that do not change are not written.
- Symbolic links that lead out of the folder are not followed. If a run is killed, the next run continues its work.
- \`devctl render SERVICE…\` writes the files of these services and removes nothing.
- If the folder is in the build context of a service, the files in the lock do not affect the tag of the image;
  otherwise, every run would change the tag. List the folder in \`.dockerignore\` anyway, so that manifests and
  Secrets do not get into the image.

The fingerprint of a Secret does not include its data, so a committed lock reveals nothing about it.

## Completion

\`devctl completion SHELL\` prints a short script. At each Tab, it asks devctl itself, so it needs no update.

| shell | line to add |
|---|---|
| bash 3.2 or later, with or without the package bash-completion | \`eval "$(devctl completion bash)"\` in \`~/.bashrc\` |
| zsh | \`source <(devctl completion zsh)\` in \`~/.zshrc\`, after \`compinit\`; or the script as \`_devctl\` in a folder of \`fpath\` |
| fish | none: \`devctl completion fish > ~/.config/fish/completions/devctl.fish\` |
| PowerShell | \`devctl completion powershell | Out-String | Invoke-Expression\` in \`$PROFILE\` |

It completes commands, options that are not used yet or may be repeated, and their values in both forms
(\`--option value\`, \`--option=value\`). After \`--\`, options are no longer offered, and nothing is for the command of \`exec\`
and \`up\`. zsh, fish and PowerShell show descriptions, bash after the second Tab.

| values | come from |
|---|---|
| services, profiles | the Compose files that the command would load, with \`include\` |
| environments, development containers | the manifest; without a manifest, development containers are services |
| contexts | the kubeconfig, and the platforms that you are logged in to |
| branches and tags | the checkout in this folder, and \`origin\` as last fetched |
| diagnostic codes | devctl |
| namespaces, names of environments | the cluster that the command would use |
| runs, previews | the platform |
| files, folders | the shell |

The files of the project are only parsed: variables in them are not substituted, and a file whose
path in \`include\` or in the manifest has a variable is left out. A cluster or platform has 0.8 seconds to answer. What cannot be listed is left out without a message. Completion
writes nothing, and runs nothing of the project; it runs \`git\`, and the credential plugin of your kubeconfig without its
messages and questions. The project does not choose the plugin: a cluster is asked only if your line or shell names its
context, or if it is your current context; one that only the manifest names is not asked. It is not counted (analytics.md).

The script for PowerShell is tested with its protocol, not in PowerShell.

\`kubectl devctl\` runs devctl if a program \`kubectl-devctl\` is on the PATH, such as a link to \`devctl\`. For its completion,
kubectl calls \`kubectl_complete-devctl\`, an executable script on the PATH:

    #!/bin/sh
    exec devctl __complete kubectl "$@"

## Commands
`

/**
 * Returns the pages of the command line by path in docs/: `cli.md` with the rules that apply to all commands, and
 * `cli/NAME.md` with the full help of a command and its subcommands.
 */
export function commandsPages(commands: readonly Command[]): ReadonlyMap<string, string> {
  const block = (text: string) => `\`\`\`text\n${text.trim()}\n\`\`\`\n`
  const top = commandsBelow(commands)
  const rows = top.map(({ name, summary }) => `| [\`${name}\`](cli/${name}.md) | ${summary.replaceAll('|', '\\|')} |`)
  const table = ['| command | |', '|---|---|', ...rows, ''].join('\n')
  const pageOf = (one: Command): string => {
    const all = [one, ...commandsBelow(commands, one.name)]
    const sections = all.map(each => `## devctl ${each.name}\n\n${block(fullHelp(each, commands))}`)
    return [`# devctl ${one.name}\n\n[All commands](../cli.md)\n`, ...sections].join('\n')
  }
  return new Map([
    ['cli.md', [INTRODUCTION, table, '## Common options\n', block(optionsHelp(commands))].join('\n')],
    ...top.map(one => [`cli/${one.name}.md`, pageOf(one)] as const),
  ])
}
