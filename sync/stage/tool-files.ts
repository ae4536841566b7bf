/** Names of files that determine what developer tools run, by themselves or at the next usual command. */
const NAMES = new Set([
  ...['.envrc', 'package.json', '.npmrc', '.yarnrc.yml', '.yarnrc', '.pnpmfile.cjs', '.bunfig.toml', 'deno.json'],
  ...['makefile', 'gnumakefile', 'justfile', '.justfile', 'taskfile.yml', 'taskfile.yaml', 'rakefile'],
  ...['gradlew', 'gradlew.bat', 'build.gradle', 'build.gradle.kts', 'mvnw', 'mvnw.cmd', 'pom.xml', 'build.rs'],
  ...['setup.py', 'conftest.py', 'tox.ini', 'noxfile.py', 'gemfile', 'composer.json', 'mix.exs'],
  ...['.pre-commit-config.yaml', 'lefthook.yml', 'lefthook.yaml', '.lefthook.yml', '.gitattributes', '.gitmodules'],
  ...['mise.toml', '.mise.toml', '.tool-versions', 'devbox.json', 'flake.nix', 'shell.nix', 'default.nix'],
  ...['tiltfile', 'skaffold.yaml', 'devcontainer.json', '.devcontainer.json', 'vagrantfile'],
])
/** Folders in which every file counts. */
const FOLDERS = new Set(['.vscode', '.idea', '.husky', '.githooks', '.devcontainer', '.cargo', '.mvn', '.config'])
/** Folders of third-party packages and build results: of the many files in them, none says more than another. */
const MADE = new Set(['node_modules', 'vendor', '.venv', 'venv', 'site-packages', 'target', 'dist', 'build', '.git'])

/**
 * Returns true for a path, relative to its folder, of a file that determines what tools run: `.envrc`,
 * `web/.vscode/tasks.json`.
 */
export function isToolFile(path: string): boolean {
  const folders = path.toLowerCase().split('/')
  const name = folders.pop()!
  if (folders.some(one => MADE.has(one))) return false
  return NAMES.has(name) || name.endsWith('.code-workspace') || folders.some(one => FOLDERS.has(one))
}
