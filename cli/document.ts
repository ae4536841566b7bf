import type { Command } from './command.ts'

const INTRODUCTION = `# Command line

    devctl [options] <command> [parameters]

Results go to standard output; diagnostics, progress and summaries go to standard error, so that \`devctl render | kubectl apply -f -\` is
safe. Colours appear on a terminal only, and never when \`NO_COLOR\` or \`CI\` is set.

| exit status | meaning |
|---|---|
| 0 | done |
| 1 | failed: errors in the input, or something could not be read or written |
| 2 | wrong usage: an unknown command or option, a value that an option does not take |
| 9 | a file of \`--env-file\` is missing: Node.js knows an option of that name too, and says so before devctl starts |
| 130 | interrupted |

| \`--loglevel\` | what is shown |
|---|---|
| \`error\` | errors |
| \`warn\` | and warnings and summaries; the default |
| \`info\` | and remarks about what was decided for you |
| \`debug\` | and every request to the cluster, with its status and time, never with what was sent |

| variable | meaning |
|---|---|
| \`COMPOSE_FILE\`, \`COMPOSE_PATH_SEPARATOR\`, \`COMPOSE_PROFILES\`, \`COMPOSE_PROJECT_NAME\` | as for Compose |
| \`DEVCTL_CONTEXT\`, \`DEVCTL_NAMESPACE\` | the context and the namespace where \`--context\` and \`--namespace\` are not given |
| \`DEVCTL_DOMAIN\`, \`DEVCTL_REGISTRY\` | the domain and the registry of \`deploy\` where neither its options nor the manifest name them |
| \`DEVCTL_URL\` | the platform; counts for more than \`DEVCTL_CONTEXT\` |
| \`DEVCTL_HOME\` | the folder with what devctl remembers; default \`~/.devctl\` |
| \`DEVCTL_TIMEOUT\` | the deadline where \`--timeout\` is not given |
| \`DEVCTL_GIT_TOKEN\`, \`DEVCTL_GIT_USERNAME\` | the token, and the user name with it, by which git gets into GitOps repositories at \`https://\` |
| \`DEVCTL_FORGE_TOKEN\` | the token that opens pull requests; gitops.md has those of each forge |
| \`DEVCTL_GIT_TOKEN_HOST\`, \`DEVCTL_FORGE_TOKEN_HOST\` | the hosts that these tokens are for; default the server of the pipeline |
| \`DEVCTL_ALLOW_OUTSIDE\` | folders outside of a project that its files may name, with \`:\` between them; \`devctl explain files/outside\` |
| \`DEVCTL_LIMITS\` | other limits of what a compilation may take, such as \`ports=200000,context=4g\`; \`devctl explain limits/exceeded\` |
| \`DEVCTL_SEALING_KEY\` | by which unchanged values that are sealed, or encrypted by SOPS, are known; default \`sealing.key\` in \`DEVCTL_HOME\` |
| \`KUBECONFIG\` | the kubeconfig, one file or several; default \`~/.kube/config\` |
| \`HTTPS_PROXY\`, \`HTTP_PROXY\`, \`NO_PROXY\` | the way to the cluster, where the kubeconfig names no proxy |
| \`DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED\` | \`false\`: services that share a volume need not run on one node |
| \`GITHUB_ACTIONS\`, \`GITHUB_WORKSPACE\` | diagnostics are also printed as annotations of the workflow |

## Contexts

A context is a cluster, a user and a namespace: one of your kubeconfig. A command takes

1. the context of \`--context\`,
2. else that of \`DEVCTL_CONTEXT\`,
3. else that of the manifest,
4. else that of \`devctl context use\`,
5. else the current one of the kubeconfig;

and the namespace in the same order: \`--namespace\`, \`DEVCTL_NAMESPACE\`, the manifest, \`devctl namespace use\`, the kubeconfig, \`default\`.
The domain of public routes and the registry of built images are those of \`--domain\` and \`--registry\`, else of the manifest (its environment, then its top level), else, for \`deploy\` and \`diff\`, of
\`DEVCTL_DOMAIN\` and \`DEVCTL_REGISTRY\`, else of the context: \`devctl context use NAME --domain DOMAIN --registry REGISTRY\`. \`render\` and \`publish\` read options and the manifest only.

\`--loglevel info\` says which ones were chosen, and by what. \`render\`, \`validate\` and \`config\` know no contexts: they give the same on
every machine.

\`devctl context use\` and \`devctl namespace use\` write \`contexts.json\` in \`DEVCTL_HOME\` and nothing else: your kubeconfig stays as it is, and
what \`kubectl\` does to it does not change where devctl works. \`devctl kubeconfig\` makes \`kubectl\` follow. The file is for you alone (mode
0600), any number of commands may write it at once, and no command ever prints a token.

The kubeconfig is read as \`kubectl\` reads it: several files, credential plugins, client certificates, tokens and files with tokens, acting
as somebody else, proxies, \`insecure-skip-tls-verify\`, \`tls-server-name\`. A cluster that does not answer is given up after 8 seconds; once
it has answered, a command goes on through short outages until its \`--timeout\`.

\`devctl namespace create\`, \`delete\` and \`list\` need a platform, and so does a context that is a URL; a later version has them.

## The output folder

\`devctl render --output-dir k8s\` writes one file per object: \`k8s/<service>/<kind>-<name>.yaml\`, or \`k8s/_shared/…\` for what services share.
The file \`.devctl.lock\` in it records which files are devctl's, with a fingerprint of each; commit it with them. From then on

- a file that devctl no longer makes is removed, if it is recorded and unchanged; folders that become empty go with it;
- a file that was edited by hand, and anything else that stands where a file should be, stops the run before the first write and is named.
  \`--take-over\` replaces such files, but never links and folders;
- files that are not recorded are not looked at; files that stay the same are not written;
- symbolic links are not followed out of the folder, and a run that was killed is carried on with by the next one;
- \`devctl render SERVICE…\` writes the files of those services and removes nothing;
- where the folder lies in the build context of a service, what the lock records does not count for the tag of the image: else each run would
  give another tag. List the folder in \`.dockerignore\` all the same, so that no manifest and no Secret gets into the image.

The fingerprint of a Secret leaves out its data: nothing can be guessed from a lock that is committed.

## Commands
`

/** docs/cli.md: what holds for all commands, and the help of each. */
export function commandsDocument(commands: readonly Command[], help: (name: string | undefined) => string): string {
  const block = (text: string) => `\`\`\`text\n${text.trim()}\n\`\`\`\n`
  const sections = commands.map(({ name }) => `### devctl ${name}\n\n${block(help(name))}`)
  return [INTRODUCTION, block(help(undefined)), ...sections].join('\n')
}
