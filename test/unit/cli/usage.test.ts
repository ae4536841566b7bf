import { join } from 'node:path'
import { Option } from 'commander'
import { describe, expect, test } from 'vitest'
import { commandsBelow } from '../../../cli/command.ts'
import { commands } from '../../../cli/commands.ts'
import { flagsText } from '../../../cli/help/option-text.ts'
import { longFlag } from '../../../cli/options/option.ts'
import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import { root } from '../../support/cases.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'
import { expectFile } from '../../support/written-file.ts'

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
const devctl = (...argv: string[]) => run(argv, { cwd: root })

// `--no-cache` sets `cache` to false; under any other key its value is never seen.
test('every option has the key that its flags set', () => {
  for (const { name, options } of commands)
    for (const { flags } of Object.values(options))
      expect(Object.keys(options), `${name} ${flags}`).toContain(new Option(flags).attributeName())
})

describe('help', () => {
  test('help of devctl is the same in both forms, on standard output', async () => {
    const help = await devctl('--help')
    expect(help).toMatchObject({ status: 0, stderr: '' })
    await expectFile(help.stdout, join(root, 'golden/cli/help/devctl.txt'))
    expect(await devctl('-h')).toEqual(help)
    expectOneScreen(help.stdout)
  })

  test.each(commands.map(({ name }) => name))('help of `%s` fits on a screen', async name => {
    const help = await devctl(...name.split(' '), '--help')
    expect(help).toMatchObject({ status: 0, stderr: '' })
    await expectFile(help.stdout, join(root, `golden/cli/help/${name.replace(' ', '-')}.txt`))
    expect(await devctl(...name.split(' '), '-h')).toEqual(help)
    expectOneScreen(help.stdout)
  })

  test('the short help keeps defaults of a word', async () => {
    const help = await devctl('deploy', '--help')
    expect(help.stdout.replaceAll(/\s+/g, ' ')).toMatch(/--start-order [^.]*devctl \(default: client\)/)
  })

  const expectOneScreen = (text: string) => {
    const lines = text.trimEnd().split('\n')
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(100)
    expect(lines.length).toBeLessThanOrEqual(50)
  }

  test.each(commands)('`devctl help $name` prints every option and every example', async command => {
    const { status, stdout } = await devctl('help', ...command.name.split(' '))
    expect(status).toBe(0)
    const shown = stdout.replace(/\s+/g, ' ')
    for (const option of Object.values(command.options)) {
      expect(shown).toContain(flagsText(option))
      expect(shown).toContain(option.description)
    }
    for (const { line, does } of command.examples ?? []) expect(stdout).toContain(`  # ${does}\n  $ ${line}\n`)
    for (const flags of ['--log-level', '-v, --verbose', '-q, --quiet', '-h, --help']) expect(stdout).toContain(flags)
  })

  test('`devctl help` prints every command, and `devctl help options` every common option', async () => {
    const [all, options] = [await devctl('help'), await devctl('help', 'options')]
    expect([all.status, options.status]).toEqual([0, 0])
    for (const { name } of commands) expect(all.stdout).toMatch(new RegExp(`^  ${name}( |$)`, 'm'))
    expect(all.stdout.endsWith(options.stdout)).toBe(true)
    const common = commands.flatMap(one => Object.values(one.options)).filter(one => one.common !== undefined)
    for (const { flags } of common) expect(options.stdout).toContain(longFlag(flags))
  })

  test('the list of commands has each top-level command in one line of its group', async () => {
    const { stdout } = await devctl('--help')
    for (const { name, summary, group } of commandsBelow(commands).filter(one => !one.isSecondary)) {
      expect(group, name).toBeDefined()
      expect(stdout).toMatch(new RegExp(`^  (${group}|) +${name} +${escaped(summary)}$`, 'm'))
    }
  })

  test('help is on standard error with status 2 if there is no command', async () => {
    const { stdout: help } = await devctl('--help')
    expect(await devctl()).toEqual({ status: 2, stdout: '', stderr: help })
    expect(await devctl('--loglevel', 'info')).toEqual({ status: 2, stdout: '', stderr: help })
  })

  test('help follows the width of a terminal', async () => {
    const { main } = await import('../../../cli/main.ts')
    let text = ''
    const output = { isTTY: true, columns: 80, write: (part: string) => (text += part) }
    await main(['render', '--help'], {
      stdout: output,
      stderr: output,
      readStdin: async () => new Uint8Array(),
      env: {},
      cwd: root,
    })
    const lines = text.split('\n').filter(line => !line.startsWith('  $'))
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(80)
  })

  test('every option is declared under its long name', () => {
    for (const command of commands) {
      for (const [key, { flags }] of Object.entries(command.options)) {
        const camel = (long: string) => long.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
        const long = /--([a-zA-Z0-9-]+)/.exec(flags)![1]!
        // commander calls `--no-bash` `bash`
        expect([camel(long), camel(long.replace(/^no-/, ''))]).toContain(key)
      }
    }
  })
})

test('the version is printed by the command and by the option', async () => {
  const printed = { status: 0, stdout: expect.stringMatching(/^devctl \d+\.\d+\.\d+\n$/), stderr: '' }
  expect(await devctl('version')).toEqual(printed)
  expect(await devctl('--version')).toEqual(printed)
})

describe('habits of Docker', () => {
  test.each<readonly [line: string, message: string, hint: string]>([
    ['run -v ./a:/a web', '`-v` of `run` is `--verbose`, and mounts no volume', 'add it to `volumes`, and deploy it'],
    ['run --volume ./a:/a web', 'unknown option `--volume`', 'add it to `volumes`, and deploy it'],
    ['run -p 80:80 web', 'unknown option `-p`', '`devctl forward SERVICE 8080:80`'],
    ['run --publish=80:80 web', 'unknown option `--publish`', '`devctl forward SERVICE 8080:80`'],
    ['run -w /app web', 'unknown option `-w`', '`devctl run SERVICE -- sh -c "cd FOLDER && COMMAND"`'],
    ['compose up -d', 'unknown command `compose`', '`devctl deploy` deploys the application; `devctl up SERVICE`'],
    ['docker compose up', 'unknown command `docker`', '`devctl deploy` deploys the application; `devctl up SERVICE`'],
    ['docker-compose -f a.yaml up', 'unknown command `docker-compose`', '`devctl deploy` deploys the application'],
    ['compose down', 'unknown command `compose`', '`devctl destroy` deletes the application'],
    ['compose down -v', 'unknown command `compose`', '`devctl destroy -v` deletes the application with its volumes'],
    ['compose logs -f web', 'unknown command `compose`', 'leave `compose` out: `devctl logs`'],
    ['docker compose config', 'unknown command `docker`', 'leave `docker compose` out: `devctl config`'],
    ['compose pull', 'unknown command `compose`', 'the nodes of the cluster pull the images'],
    ['compose exec web sh', 'unknown command `compose`', '`devctl exec --service SERVICE -- COMMAND`'],
    ['docker volume', 'unknown command `docker`', 'leave `docker` out if you mean a command of devctl'],
    ['compose', 'unknown command `compose`', 'leave `compose` out if you mean a command of devctl'],
    ['kubectl get pods', 'unknown command `kubectl`', '`devctl ps` lists the services'],
  ])('`devctl %s` says what to write instead', async (line, message, hint) => {
    const { status, stderr } = await devctl(...line.split(' '))
    expect(status).toBe(2)
    expect(stderr).toContain(`error: ${message}\n  = help: `)
    expect(stderr).toContain(hint)
  })

  test.each([
    'run -it web',
    'run -i -t --rm web',
    'run -ti web -- sh',
    'run --interactive --tty web',
    'run -it -T web',
  ])('`devctl %s` is accepted, because a run has input and a terminal anyway', async line => {
    const { stderr } = await devctl(...line.split(' '))
    expect(stderr).toContain('no context is selected')
  })

  test.each(['-v', '-q', '--log-level debug'])('`devctl up api web %s` starts two containers', async option => {
    const { stderr } = await devctl('up', 'api', 'web', ...option.split(' '))
    expect(stderr).not.toContain('belongs to the command')
    expect(stderr).toContain('no context is selected')
  })

  test('`devctl exec -it` is accepted, too', async () => {
    const { stderr } = await devctl('exec', '-it', '--service', 'web', '--', 'sh')
    expect(stderr).toContain('no context is selected')
  })

  test('`devctl down -v` names the command that deletes the application with its volumes', async () => {
    expect((await devctl('down', '-v')).stderr).toContain('`devctl destroy -v` deletes the application')
  })
})

describe('wrong usage', () => {
  test.each<readonly [line: string, message: string, hint: unknown]>([
    ['rendr', 'unknown command `rendr`', 'did you mean `render`?'],
    ['nothing-like-it', 'unknown command `nothing-like-it`', 'see `devctl --help`'],
    ['exec api npm', '`npm` is one word too many', expect.stringContaining('`devctl exec api -- npm`')],
    [
      'up api web -- npm',
      'several development containers run their own commands',
      expect.stringContaining('leave out'),
    ],
    [
      'exec web sh',
      '`sh` is one word too many',
      'put the command behind two dashes: `devctl exec web -- sh`, or `devctl exec --service web -- sh` in a deployed service',
    ],
    ['exec web', 'there is no command to run', expect.stringContaining('`devctl exec --service web -- sh`')],
    [
      'exec api npm -x',
      'unknown option `-x`',
      'write the command behind `--`: `devctl exec api -- npm -x`, or `devctl exec --service api -- npm -x` in a deployed service',
    ],
    [
      'exec api npm -v',
      '`-v` belongs to the command',
      'write the command behind `--`: `devctl exec api -- npm -v`, or `devctl exec --service api -- npm -v` in a deployed service',
    ],
    ['up api npm -x', 'unknown option `-x`', 'write the command behind `--`: `devctl up api -- npm -x`'],
    ['up api web --detahc', 'unknown option `--detahc`', 'did you mean `--detach`?'],
    ['render -q -v', '`--verbose` and `--quiet` cannot be combined', 'remove one of them'],
    ['-v render --loglevel warn', '`--log-level` and `--verbose` cannot be combined', 'remove one of them'],
    [
      'build -o type=local',
      '`--output` is `type=local`',
      'images are pushed to a registry; `--push=false` only checks that they can be built',
    ],
    ['exec', 'there is no command to run', expect.stringContaining('`devctl exec -- sh`')],
    ['--loglevel info rm web', 'unknown command `rm`', expect.stringContaining('`devctl destroy SERVICE`')],
    [
      'port-forward svc/web 80',
      'unknown command `port-forward`',
      expect.stringContaining('`devctl forward SERVICE 8080:80`'),
    ],
    ['help pause', 'unknown command `pause`', expect.stringContaining('starts it again')],
    [
      'login',
      'unknown command `login`',
      '`devctl context use https://…` logs in to a platform, `docker login` to a registry',
    ],
    ['logout', 'unknown command `logout`', '`devctl context delete https://…` logs out of a platform'],
    ['sync', 'unknown command `sync`', '`devctl up` synchronizes files with a development container'],
    [
      'push',
      'unknown command `push`',
      '`devctl build` builds images and pushes them; `devctl publish` commits manifests',
    ],
    ['help rendr', 'unknown command `rendr`', 'did you mean `render`?'],
    ['context usee', 'unknown command `context usee`', 'did you mean `use`?'],
    ['namespace shop', 'unknown command `namespace shop`', 'did you mean `devctl namespace use shop`?'],
    ['help context usee', 'unknown command `context usee`', 'did you mean `context use`?'],
    [
      'context use a b',
      'too many arguments for `use`: expected 1 argument but got 2',
      'see `devctl context use --help`',
    ],
    ['context delete', 'missing required argument `context`', 'see `devctl context delete --help`'],
    [
      'context use kind --builder host',
      '`--builder` is `host`',
      'write `tcp://HOST:PORT`, `tls://HOST:PORT`, `https://HOST`, `unix:///PATH` or `docker`; `-` removes the setting',
    ],
    ['render --nmae x', 'unknown option `--nmae`', 'did you mean `--name`?'],
    ['render -x', 'unknown option `-x`', 'see `devctl render --help`'],
    ['logs deploy --bogus', 'unknown option `--bogus`', 'see `devctl logs --help`'],
    ['logs context use --bogus', 'unknown option `--bogus`', 'see `devctl logs --help`'],
    ['run build --entrypoint x', 'unknown option `--entrypoint`', expect.stringContaining('after `--`')],
    ['--log-level info -q logs deploy --bogus', 'unknown option `--bogus`', 'see `devctl logs --help`'],
    [
      'context --namespace shop use a b',
      'too many arguments for `use`: expected 1 argument but got 2',
      'see `devctl context use --help`',
    ],
    ['deploy --dry-run', 'unknown option `--dry-run`', '`devctl diff` shows what a deploy would change'],
    ['up -d', 'unknown option `-d`', '`--detach` lets the container run its command by itself'],
    ['restart web --hard', 'unknown option `--hard`', '`devctl restart` always replaces the Pods'],
    ['deploy -p shop', 'unknown option `-p`', '`--name NAME` names the environment'],
    [
      'up -p shop',
      'unknown option `-p`',
      'set `name` in the Compose file, or choose an environment: `--environment NAME`',
    ],
    ['-p shop deploy', 'unknown option `-p`', '`--name NAME` names the environment'],
    ['logs --project-name shop', 'unknown option `--project-name`', '`--name NAME` names the environment'],
    ['logs -t', 'unknown option `-t`', '`--timestamps` shows the time of each line'],
    ['deploy --kube-context kind', 'unknown option `--kube-context`', '`--context NAME` chooses the context'],
    ['ps --kubeconfig=x', 'unknown option `--kubeconfig`', 'set `KUBECONFIG` to the path of the file'],
    ['schema -p shop', 'unknown option `-p`', 'see `devctl schema --help`'],
    ['render --name', '`--name` needs a value', 'see `devctl render --help`'],
    ['render -o xml', '`--output` is `xml`', 'use `yaml` or `json` or `kustomize`'],
    ['render --format xml', '`--output` is `xml`', 'use `yaml` or `json` or `kustomize`'],
    ['--loglevel loud render', '`--log-level` is `loud`', 'use `debug` or `info` or `warn` or `error`'],
    ['version now', 'too many arguments for `version`: expected 0 arguments but got 1', 'see `devctl version --help`'],
    ['completion', 'missing required argument `shell`', 'see `devctl completion --help`'],
    ['completion ksh', 'shell is `ksh`, not one of bash, zsh, fish, powershell', 'see `devctl completion --help`'],
    ['render --format kustomize', '`--output kustomize` writes several files', 'add `--output-dir FOLDER`'],
    ['render --take-over', '`--take-over` has no effect without `--output-dir`', 'see `devctl render --help`'],
    ['render --routes gateway', '`--routes gateway` needs a Gateway', 'add `--gateway NAMESPACE/NAME`'],
    [
      'render --routes ingress --gateway a/b',
      '`--gateway` has no effect on Ingresses',
      'leave it out, or use `--routes gateway`',
    ],
    ['render --gateway public', '`--gateway` is `public`', 'write it as `NAMESPACE/NAME`, such as `infra/public`'],
    ['render --gateway a/b/c', '`--gateway` is `a/b/c`', 'write it as `NAMESPACE/NAME`, such as `infra/public`'],
    [
      'render --image web',
      '`--image` is `web`',
      'write it as `SERVICE=REFERENCE`, such as `web=registry.example.com/web:1.4`',
    ],
    [
      'render --image =x',
      '`--image` is `=x`',
      'write it as `SERVICE=REFERENCE`, such as `web=registry.example.com/web:1.4`',
    ],
    [
      'render --image web=',
      '`--image` is `web=`',
      'write it as `SERVICE=REFERENCE`, such as `web=registry.example.com/web:1.4`',
    ],
    [
      'render --image web=Web',
      '`--image` is `web=Web`: `Web` is not a valid image name',
      'names are in lower case: `web`',
    ],
    [
      'render --image web=a:b:c',
      '`--image` is `web=a:b:c`: `a:b` is not a valid image name',
      'a name is lower-case letters and digits, with `.`, `_`, `-` and `/` between them',
    ],
    ...['Foo/Bar', 'https://r.io', 'r.io/', 'r.io//x', 'r.io/x:5', 'r.io@x'].map(
      registry =>
        [
          `render --registry ${registry}`,
          `\`--registry\` is \`${registry}\``,
          'write a host and a path in lower case, without scheme and tag, such as `registry.example.com/team`',
        ] as const,
    ),
    ['config --services --images', '`--services` and `--images` cannot be used together', 'see `devctl config --help`'],
  ])('`devctl %s` is refused with a hint', async (line, message, hint) => {
    const { status, stdout, stderr } = await devctl(...line.split(' '))
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    const [error, help] = stderr.split('\n  = help: ')
    expect(error).toBe(`error: ${message}`)
    expect(help).toEqual(typeof hint === 'string' ? `${hint}\n` : hint)
  })

  const label = 'use lower-case letters, digits and `-`, at most 63, beginning and ending with a letter or digit'
  const name = 'use lower-case labels of letters, digits and `-`, joined by dots, such as `dev.example.com`'
  test.each([
    ['--namespace', 'Shop', 'which is not a valid DNS label', label],
    ['--namespace', 'a.b', 'which is not a valid DNS label', label],
    ['--namespace', 'x'.repeat(64), 'which is not a valid DNS label', label],
    ['--domain', 'example.com.', 'which is not a valid DNS name', name],
    ['--domain', 'https://example.com', 'which is not a valid DNS name', name],
    ['--domain', '-a.com', 'which is not a valid DNS name', name],
    ['--tag', 'a b', 'which is not a valid image tag', expect.any(String)],
  ])('render refuses %s %s with a hint', async (option, value, what, hint) => {
    const { status, stderr, stdout } = await devctl('render', option, value)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    const [first, second] = stderr.split('\n')
    expect(first).toBe(`error: \`${option}\` is \`${value}\`, ${what}`)
    expect(second!.slice('  = help: '.length)).toEqual(hint)
  })

  test('render refuses an invalid DEVCTL_NAMESPACE', async () => {
    const result = await run(['render'], { cwd: makeFolder(), env: { DEVCTL_NAMESPACE: 'Shop' } })
    expect(result).toMatchObject({ status: 2, stdout: '' })
    expect(result.stderr).toContain('error: `DEVCTL_NAMESPACE` is `Shop`, which is not a valid DNS label')
  })

  test.each(['--name', '--file', '--namespace', '--output-dir'])('render refuses an empty %s', async option => {
    const { status, stderr } = await devctl('render', option, '')
    expect(status).toBe(2)
    expect(stderr).toContain(`error: \`${option}\` is empty`)
  })
})

test('a bug of devctl prints a trace and asks for a report', async () => {
  const { main } = await import('../../../cli/main.ts')
  let stderr = ''
  const broken = () => {
    throw new TypeError('a bug')
  }
  const io = {
    stdout: { isTTY: false, write: broken },
    stderr: { isTTY: false, write: (text: string) => (stderr += text) },
  }
  const status = await main(['version'], { ...io, readStdin: async () => new Uint8Array(), env: {}, cwd: makeFolder() })
  expect(status).toBe(1)
  expect(stderr).toMatch(/^TypeError: a bug\n {4}at [\s\S]*This is a bug of devctl\. Please report it/)
  expect(new UsageError('x')).toBeInstanceOf(Error)
})
