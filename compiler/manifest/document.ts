import { shapeOf } from '../schema/row.ts'
import type { MapForm, Row, Shape } from '../schema/shape.ts'
import { keyRows, table } from '../schema/tables.ts'
import { manifestShape } from './shape.ts'

/** Returns the text of docs/manifest.md. It lists every key of a manifest and is generated from the table of keys. */
export function manifestDocument(): string {
  const top = manifestShape.map!
  const own = ['build', 'deploy', 'destroy', 'dependencies', 'forward', 'dev', 'environments']
  const sections = [
    introduction,
    `## Top level\n\n${rows(Object.entries(top.keys).map(([key, field]) => [key, field, false]))}`,
    ...own.map(key => `## ${key}\n\n${[texts[key], members(key, top)].filter(Boolean).join('\n\n')}`),
    finding,
  ]
  return `${sections.join('\n\n')}\n`
}

const introduction = `# The manifest

<!-- Made from the table in compiler/manifest; change it there. -->

A folder with a Compose file needs no manifest. \`devctl.yml\` is for what a Compose file cannot say: commands that belong to a deployment,
repositories that come first, development containers, and what is different in each environment.

\`\`\`yaml devctl
name: shop
deploy:
  compose: compose.yaml
  commands:
    - name: Make the schema
      command: psql -f schema.sql
dependencies:
  - https://git.example.com/team/login.git
environments:
  staging:
    namespace: shop-staging
    domain: staging.example.com
    compose: compose.staging.yaml
    variables: {LOG_LEVEL: info}
\`\`\`

    devctl validate
    devctl render --environment staging
    devctl schema manifest > .devctl.schema.json      # for editors

Paths are relative to the folder of the manifest; that of \`.devctl/devctl.yml\` is the folder around \`.devctl\`. Unknown keys are errors; keys that
begin with \`x-\` are yours. \`\${NAME}\` and its forms are substituted as in Compose files, from the shell, from \`.env\` beside the manifest and from the
platform, but not in commands, whose variables are the shell's, and of the environments only in the one that \`--environment\` names. Variables
\`DEVCTL_BUILD_…\` and \`DEVCTL_DEPENDENCY_…\` are set by builds and dependencies later on.

Commands get the variables of the shell. Of those of the platform, and of those that an earlier deploy has kept in the cluster, they get only what the
manifest names: as \`$NAME\` or \`\${NAME}\` in any of its texts, or in the list \`variables\` for what only a script of theirs reads. Other people
can set these variables, and many programs run code that a variable holds.`

const texts: Readonly<Record<string, string>> = {
  build: 'Images by name. A text is the build context.',
  deploy: `A list of commands, or an object. Without \`commands\` and \`compose\`, the Compose files beside the manifest are deployed; with \`commands\` alone, no Compose
file is. \`compose\` is a file, a list of files, \`{file, services}\`, or a list of those; \`endpoints\` takes the three notations of Compose files.`,
  destroy: 'A list of commands, or an object with `commands`.',
  dependencies: 'A list of addresses, each named by its last part, or a mapping of a name to an address or an object.',
  forward: 'A list of texts `LOCAL:SERVICE:REMOTE`, or of objects with the service by `name` or by `labels`.',
  dev: 'Development containers by name. `services` are containers beside it, with the keys from `name` to `imagePullPolicy`, and `replicas`.',
  environments: `By name. What an option of the command line says wins over the environment, which wins over variables of the shell such as \`DEVCTL_NAMESPACE\`, which
win over the top level of the manifest. With \`compose\`, the \`.override\` sibling of a Compose file that was found is left out: it is about your machine.`,
}

const finding = `## Which files devctl uses

1. \`-f FILE\`: a manifest or Compose files, told apart by content. With Compose files the manifest counts only with \`--environment\`:
   the environment, and \`namespace\`, \`context\`, \`domain\` and \`registry\` of the top level.
2. The manifest: \`devctl.yml\`, \`devctl.yaml\`, \`.devctl/devctl.yml\`, \`.devctl/devctl.yaml\`, in this folder or the nearest one above. In a folder without
   these, a manifest of Okteto: \`okteto.yml\`, \`okteto.yaml\` and those in \`.okteto\`, read as they are ([what differs](migrate.md#okteto)).
3. The Compose file, where one is nearer than a manifest: \`compose.yaml\`, \`compose.yml\`, \`docker-compose.yml\`, \`docker-compose.yaml\`, \`okteto-stack.yml\`, \`okteto-compose.yml\`, then those in \`.devctl\`.
4. A Helm chart in this folder (\`chart\`, \`charts\`, \`helm/chart\`, \`helm/charts\`): \`deploy\` runs \`helm upgrade --install "$DEVCTL_NAME" CHART\`, with
   \`--set KEY.image="$DEVCTL_BUILD_KEY_IMAGE"\` for each top-level key of \`values.yaml\` that has an \`image\` and whose variable is set.
5. Kubernetes manifests in this folder (\`manifests\`, \`kubernetes\`, \`k8s\`; a folder, or a file ending in \`.yml\` or \`.yaml\`): \`deploy\` runs \`kubectl apply -f PATH\`, or
   \`-k\` where the folder has a \`kustomization.yaml\`.

Of several candidates of one line the first is used, with a warning. The name of the environment is that of \`--name\`, of the environment, of the manifest, of the
Compose file, of the repository, or of the folder: the first that there is.`

type Line = readonly [name: string, field: Row | Shape, deep: boolean]

function members(key: string, { keys }: MapForm): string {
  const { list, map } = shapeOf(keys[key]!)
  const named = map?.others ? shapeOf(map.others.row) : undefined
  const forms = named ? (named.map ?? named.list?.items.map) : (map ?? list?.items.map)
  const fields = forms ? Object.entries(forms.keys) : []
  return fields.length === 0 ? '' : rows(fields.map(([name, field]) => [name, field, true]))
}

/**
 * Returns a table with a row for each key. A line with the flag `deep` also adds rows for the members of its key. A key
 * that is used in several places is listed once.
 */
function rows(lines: readonly Line[]): string {
  const told = new Set<Row>()
  const cells = lines.flatMap(([name, field, deep]) => {
    const all = [...keyRows(name, field)]
    return (deep ? all : all.slice(0, 1)).flatMap(({ name: path, row, forms }) => {
      if (told.has(row)) return []
      told.add(row)
      return [[`\`${path}\``, forms, row.becomes, row.note ?? '']]
    })
  })
  return table(['key', 'is written as', 'means', 'default'], cells)
}
