import type { Guess, Recognised } from '../application.ts'
import type { ProjectFiles } from '../project-files.ts'
import { portInSources } from '../source-port.ts'
import { firstLine, version } from './versions.ts'

const MARKERS = ['pyproject.toml', 'requirements.txt', 'manage.py', 'Pipfile', 'setup.py']

/** Package managers: marker file, install command, and prefix for commands that run in the manager's environment. */
const MANAGERS: readonly (readonly [marker: string, install: string, run: string])[] = [
  ['uv.lock', 'pip install uv && uv sync', 'uv run '],
  ['poetry.lock', 'pip install poetry && poetry install', 'poetry run '],
  ['Pipfile', 'pip install pipenv && pipenv install --dev', 'pipenv run '],
  ['requirements.txt', 'pip install -r requirements.txt', ''],
  ['pyproject.toml', 'pip install -e .', ''],
]

export function recognisePython(files: ProjectFiles): Recognised | undefined {
  const marker = MARKERS.find(name => files.has(name))
  if (marker === undefined) return undefined
  const needs = ['requirements.txt', 'pyproject.toml', 'Pipfile', 'setup.py']
    .map(name => files.text(name) ?? '')
    .join('\n')
  const [, install, run = ''] = MANAGERS.find(([name]) => files.has(name)) ?? []
  const { title, command, port } = frameworkOf(files, needs)
  return {
    title,
    marker,
    image: imageOf(files, needs),
    commands: command
      ? [{ ...command, value: (install ? `${install} && ` : '') + run + command.value }]
      : [{ value: 'bash' }],
    ...(port && { port }),
    debugger: { port: 5678, hint: 'when `python -m debugpy --listen 5678` runs the program' },
    caches: ['/root/.cache/pip'],
    ignores: ['.venv', 'venv', '__pycache__', '*.pyc'],
  }
}

type Framework = Pick<Recognised, 'title' | 'port'> & { readonly command?: Guess<string> }

function frameworkOf(files: ProjectFiles, needs: string): Framework {
  const requires = (name: string) => new RegExp(`^[\\s"'\\[]*${name}\\b|["'\\s,\\[]${name}\\b`, 'im').test(needs)
  if (files.has('manage.py')) return served('Django', 'python manage.py runserver 0.0.0.0:8000', 'manage.py', 8000)
  if (requires('fastapi')) {
    const { module, path } = moduleWith(files, /^(\w+)\s*(?::[^=\n]+)?=\s*FastAPI\(/m, 'main:app')
    return served('FastAPI', `uvicorn ${module} --reload --host 0.0.0.0 --port 8000`, path, 8000)
  }
  if (requires('flask')) {
    const { module, path } = moduleWith(files, /^(\w+)\s*(?::[^=\n]+)?=\s*Flask\(/m, 'app:app')
    return served('Flask', `flask --app ${module} run --debug --host 0.0.0.0`, path, 5000)
  }
  if (requires('streamlit')) {
    const path = ['streamlit_app.py', 'app.py', 'main.py'].find(name => files.has(name)) ?? 'app.py'
    return served('Streamlit', `streamlit run ${path}`, path, 8501)
  }
  const main = ['main.py', 'app.py', 'server.py', 'src/main.py'].find(name => files.has(name))
  const port = portInSources(files, ['.py'])
  return {
    title: 'Python',
    ...(main !== undefined && { command: { value: `python ${main}`, from: main } }),
    ...(port && { port }),
  }
}

const served = (framework: string, command: string, from: string | undefined, port: number): Framework => ({
  title: `Python, ${framework}`,
  command: { value: command, ...(from !== undefined && { from }) },
  port: { value: port, from: 'the command' },
})

/**
 * Finds the module and variable of an application, in the notation of servers: `shop.main:app`. Returns `otherwise` if
 * no source file matches the pattern.
 */
function moduleWith(files: ProjectFiles, pattern: RegExp, otherwise: string) {
  for (const path of files.sources(['.py'])) {
    const variable = pattern.exec(files.text(path) ?? '')?.[1]
    if (variable === undefined) continue
    const module = path
      .replace(/\.py$/, '')
      .replace(/\/__init__$/, '')
      .replaceAll('/', '.')
    return { module: `${module}:${variable}`, path }
  }
  return { module: otherwise, path: undefined }
}

function imageOf(files: ProjectFiles, needs: string): Guess<string> {
  const image = (found: string, from: string) => ({ value: `python:${found}`, from })
  for (const file of ['.python-version', 'runtime.txt']) {
    const found = version(firstLine(files.text(file)), 2)
    if (found !== undefined) return image(found, file)
  }
  const required = version(/^\s*requires-python\s*=\s*["']([^"'\n]*)/m.exec(needs)?.[1], 2)
  if (required !== undefined) return image(required, '`requires-python` in pyproject.toml')
  const poetry = version(/^\s*python\s*=\s*["']([^"'\n]*)/m.exec(needs)?.[1], 2)
  if (poetry !== undefined) return image(poetry, '`python` in pyproject.toml')
  const pipenv = /^\s*python_version\s*=\s*["'](\d+\.\d+)/m.exec(needs)?.[1]
  return pipenv === undefined ? { value: 'python:3.13' } : image(pipenv, 'Pipfile')
}
