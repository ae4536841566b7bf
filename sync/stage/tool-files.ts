/** Names of files that determine what developer tools run, either automatically or with the next common command. */
const NAMES = new Set([
  ...['.envrc', 'package.json', '.npmrc', '.yarnrc.yml', '.yarnrc', '.pnpmfile.cjs', '.bunfig.toml', 'deno.json'],
  ...['makefile', 'gnumakefile', 'justfile', '.justfile', 'taskfile.yml', 'taskfile.yaml', 'rakefile'],
  ...['gradlew', 'gradlew.bat', 'build.gradle', 'build.gradle.kts', 'mvnw', 'mvnw.cmd', 'pom.xml', 'build.rs'],
  ...['setup.py', 'conftest.py', 'tox.ini', 'noxfile.py', 'gemfile', 'composer.json', 'mix.exs'],
  ...['.pre-commit-config.yaml', 'lefthook.yml', 'lefthook.yaml', '.lefthook.yml', '.gitattributes', '.gitmodules'],
  ...['mise.toml', '.mise.toml', '.tool-versions', 'devbox.json', 'flake.nix', 'shell.nix', 'default.nix'],
  ...['tiltfile', 'skaffold.yaml', 'devcontainer.json', '.devcontainer.json', 'vagrantfile'],
])
/** Folders in which every file counts as a tool file. */
const FOLDERS = new Set(['.vscode', '.idea', '.husky', '.githooks', '.devcontainer', '.cargo', '.mvn', '.config'])
/**
 * Folders of third-party packages and build results. Files in them do not count as tool files, because there are too
 * many for useful reports.
 */
const MADE = new Set(['node_modules', 'vendor', '.venv', 'venv', 'site-packages', 'target', 'dist', 'build', '.git'])

/**
 * Returns true if a file determines what tools run. The path is relative to the sync folder, such as `.envrc` or
 * `web/.vscode/tasks.json`.
 */
export function isToolFile(path: string): boolean {
  const folders = path.toLowerCase().split('/')
  const name = folders.pop()!
  if (folders.some(one => MADE.has(one))) return false
  return NAMES.has(name) || name.endsWith('.code-workspace') || folders.some(one => FOLDERS.has(one))
}
