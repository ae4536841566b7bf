/** Page docs/compose/host-paths.md. */
export const hostPaths = `# Host paths

What a file or folder of your machine in \`volumes\` of a service becomes.

A cluster cannot access the files on your machine, so a host path in \`volumes\` becomes a Kubernetes object. Which one depends on what git tracks, not on what
is on disk, so a laptop and a fresh clone render the same manifests.

| content of the path in a git checkout | becomes |
| --- | --- |
| tracked files, up to 1 MiB in total | a ConfigMap, or a Secret if the content looks like keys, mounted read-only. Content is taken from the working tree, file modes from the index. Equal files and folders are one ConfigMap, named after the file and its content, for all services that mount them. A service that mounts a folder and a file of it takes the file from the ConfigMap of the folder |
| a folder without tracked files (\`.gitkeep\` and the like do not count), or nothing | a claim named after the path, shared by all services that mount it |
| the same, but no service writes to it, or its name looks like a file | an error: there is nothing to read |
| more than 1 MiB of tracked files | an error that says what to write; \`deploy\` mounts an empty claim in place of a folder that is written to, and \`up\` synchronizes it |
| an untracked file | a ConfigMap or Secret, with a warning: other machines do not have the file |

- Untracked files next to tracked ones are left out, with a warning that names them. A file that is mounted into a copied folder becomes part of it.
- A service with \`build\` does not mount what its Dockerfile copies to the same place from the context (\`.dockerignore\` and stages are considered). Its other host
  paths are treated as above; what cannot be copied is left out with a warning.
- A checkout counts if it tracks any file in the project folder. Outside a checkout, and if git fails, the content of a path is what is on this machine
  without \`.git\` and ignored files, with a warning.
- A path outside the project and its checkout becomes a Secret. A missing folder there becomes a claim: one in your home directory, and any other that a service
  writes to. A missing file is not mounted, with a warning.
- A claim of a host path belongs to the \`user\` of the service if that is a number, else to the user of its image if devctl knows it.
- A folder that becomes a claim is also mounted where a folder around it is copied: with \`.:/sources\`, the claim of \`./logs\` is at \`/sources/logs\`.
- Line endings are taken from the working tree: set \`eol=lf\` in \`.gitattributes\` if people work on Windows with \`core.autocrlf\`.

\`x-mount\` in the long form overrides these rules:

\`\`\`yaml
volumes:
  - type: bind
    source: ./dist
    target: /usr/share/nginx/html
    x-mount: config   # or secret, claim, skip
\`\`\``
