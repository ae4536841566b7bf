/** A kind of file with which another tool describes a project, and a hint on how to start with devctl. */
export interface ForeignFile {
  readonly tool: string
  /** Paths of such files, relative to the folder of the project. */
  readonly paths: readonly string[]
  /** Matches the text of a file of this kind. If set, files are recognized by their text, whatever their names are. */
  readonly text?: RegExp
  readonly hint: string
}

const INIT = 'run `devctl init`: it writes `devctl.yml` from the Dockerfiles, the chart or the manifests of this folder'

const FOREIGN_FILES: readonly ForeignFile[] = [
  {
    tool: 'Skaffold',
    paths: ['skaffold.yaml', 'skaffold.yml'],
    text: /^apiVersion:\s*["']?skaffold\//m,
    hint: `${INIT}; \`sync\` of an artifact becomes \`sync\` under \`dev\``,
  },
  {
    tool: 'Tilt',
    paths: ['Tiltfile'],
    hint: `${INIT}; \`live_update\` becomes \`sync\` under \`dev\`, and for \`docker_compose("FILE")\`, name that file with \`-f\``,
  },
  {
    tool: 'Score',
    paths: ['score.yaml', 'score.yml'],
    text: /^apiVersion:\s*["']?score\.dev\//m,
    hint: 'run `score-compose init` and `score-compose generate score.yaml`: they write `compose.yaml`, which devctl reads',
  },
  {
    tool: 'DevSpace',
    paths: ['devspace.yaml', 'devspace.yml'],
    text: /^version:\s*["']?v[12]beta\d+["']?\s*$[\s\S]*^(?:deployments|dev|pipelines|images):/m,
    hint: `${INIT}; \`dev.NAME.sync\` has the same form`,
  },
  {
    tool: 'dev containers',
    paths: ['.devcontainer/devcontainer.json', '.devcontainer.json'],
    hint: `for its \`dockerComposeFile\`, name that file with \`-f\`; otherwise ${INIT}, and \`image\`, \`forwardPorts\` and \`postCreateCommand\` become \`image\`, \`forward\` and \`command\` under \`dev\``,
  },
]

/**
 * Returns the path of the first file of another tool for which `exists` returns true, and the kind of this file;
 * undefined if there is none.
 */
export function foreignFileIn(
  exists: (path: string) => boolean,
): { readonly path: string; readonly file: ForeignFile } | undefined {
  for (const file of FOREIGN_FILES) {
    const path = file.paths.find(exists)
    if (path !== undefined) return { path, file }
  }
  return undefined
}

/**
 * Returns the file kind of another tool to which a file belongs. Recognizes the file by its text, or by its name if the
 * kind has no pattern for the text. Returns undefined if there is none.
 */
export function foreignFileOf(path: string, text: string): ForeignFile | undefined {
  const isNamed = (name: string) => path === name || path.endsWith(`/${name.split('/').at(-1)}`)
  return FOREIGN_FILES.find(file => (file.text ? file.text.test(text) : file.paths.some(isNamed)))
}

/** Returns the message about a file of another tool. */
export const foreignText = (path: string, { tool }: ForeignFile): string =>
  `\`${path}\` is a file of ${tool}, which devctl does not read`
