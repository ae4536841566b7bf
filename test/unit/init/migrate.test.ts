import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { root } from '../../support/cases.ts'
import { run } from '../../support/run.ts'

const golden = join(root, 'golden/migrate')
const work = mkdtempSync(join(tmpdir(), 'devctl-migrate-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

/** Files that another tool reads, by the name that `migrate` would not find itself. */
const NAMED = /\.(?:sh|md)$/

function copyOf(name: string): { readonly cwd: string; readonly args: readonly string[] } {
  const cwd = join(work, name)
  cpSync(join(golden, name, 'input'), cwd, { recursive: true })
  return { cwd, args: ['migrate', ...readdirSync(cwd).filter(one => NAMED.test(one))] }
}

const textsIn = (folder: string) =>
  new Map(
    readdirSync(folder, { withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ name }) => [name, readFileSync(join(folder, name), 'utf8')]),
  )

describe.each(readdirSync(golden))('%s', name => {
  test('migrate prints the expected files and notes, writes nothing by itself, and the result is valid', async () => {
    const { cwd, args } = copyOf(name)
    const before = textsIn(cwd)
    const expected = join(golden, name, 'expected')
    const printed = await run(args, { cwd })
    await expect(printed.stderr).toMatchFileSnapshot(join(expected, 'notes.txt'))
    expect(textsIn(cwd)).toEqual(before)
    if (name.endsWith('-is-refused'))
      return expect({ ...printed, stderr: '' }).toEqual({ status: 1, stdout: '', stderr: '' })
    expect(printed.status, printed.stderr).toBe(0)
    await expect(printed.stdout).toMatchFileSnapshot(join(expected, 'printed.txt'))

    const written = await run([...args, '--write'], { cwd })
    expect(written).toMatchObject({ status: 0, stdout: expect.stringContaining('written: ') })
    const after = textsIn(cwd)
    for (const [file, text] of after)
      if (before.get(file) !== text) await expect(text).toMatchFileSnapshot(join(expected, file))

    const again = await run([...args, '--write'], { cwd })
    expect(again).toMatchObject({ status: 0, stdout: expect.not.stringContaining('written: ') })
    expect(textsIn(cwd)).toEqual(after)
    const checked = await run(['validate'], { cwd })
    expect(checked).toMatchObject({ status: 0, stderr: expect.not.stringMatching(/^error/m) })
  })
})

test('labels whose equivalents the file has are not reported again', async () => {
  const { cwd } = copyOf('labels-that-are-carried-over-need-no-more-warnings')
  const before = await run(['validate'], { cwd })
  expect(before.stderr).toContain('`kompose.volume.size`')
  expect(before.stderr).toContain('labels and keys of Traefik')
  await run(['migrate', '--write'], { cwd })
  const { stderr } = await run(['validate'], { cwd })
  expect(stderr.match(/= note: .*/g)).toEqual([
    '= note: `kompose.controller.type`: a named or anonymous volume, which makes the service a StatefulSet',
  ])
  expect(stderr).not.toContain('Traefik')
})

let made = 0
function folder(files: Readonly<Record<string, string>>): string {
  const cwd = join(work, `made-${made++}`)
  mkdirSync(cwd)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  return cwd
}

const NGINX = 'services:\n  nginx:\n    image: nginx\n    ports:\n      - 8080:80\n'
const COMMAND = ['docker', 'run', '-d', '-p', '8080:80', 'nginx']

describe('migrate', () => {
  test.each([
    ['arguments after `--`', ['--', ...COMMAND], ''],
    ['arguments after `--` without `docker run`', ['--', ...COMMAND.slice(2)], ''],
    ['standard input', ['-'], COMMAND.join(' ')],
  ])('migrate takes a command from %s', async (_, args, stdin) => {
    expect(await run(['migrate', ...args], { cwd: folder({}), stdin })).toEqual({
      status: 0,
      stdout: NGINX,
      stderr: '',
    })
  })

  test.each<readonly [line: string, service: object, lost: readonly string[]]>([
    [
      '-v "$PWD":"$PWD" -w "$PWD" -e ROOT=$PWD x ls $(pwd)',
      {
        volumes: ['.:$' + '{PWD}'],
        working_dir: '$' + '{PWD}',
        environment: { ROOT: '$' + '{PWD}' },
        command: ['ls', '$' + '{PWD}'],
      },
      [],
    ],
    [
      '-v %cd%/a:/a --mount type=bind,src=$PWD,dst=/b --env-file $(pwd)/.env x',
      {
        volumes: ['./a:/a', { type: 'bind', source: '.', target: '/b' }],
        env_file: ['./.env'],
      },
      [],
    ],
    ['-e VERSION=$1 x', {}, ['`-e` is not carried over: it contains `$1`']],
    ['-e "A=$' + '{2:-b}" -e B=$@ x $#', { command: [''] }, ['`-e`', '`-e`', 'an argument']],
    ['--network a --network b --network-alias c x', { networks: { a: { aliases: ['c'] }, b: null } }, []],
    ['--network a --network b x', { networks: ['a', 'b'] }, []],
    ['--network-alias c x', { networks: { default: { aliases: ['c'] } } }, []],
    ['--network name=a,alias=c,alias=d --network b x', { networks: { a: { aliases: ['c', 'd'] }, b: null } }, []],
    ['--network name=a,ip=10.0.0.2 x', { networks: ['a'] }, ['`--network` is not carried over: `ip`']],
    [
      '--mount src=d,dst=/d,volume-driver=local,volume-opt=o=x,volume-nocopy x',
      {
        volumes: [{ type: 'volume', source: 'd', target: '/d' }],
      },
      ['`volume-driver`', '`volume-opt`', '`volume-nocopy`'],
    ],
    [
      '--mount type=tmpfs,dst=/t,tmpfs-size=64m,tmpfs-mode=1770 x',
      {
        volumes: [{ type: 'tmpfs', target: '/t', tmpfs: { size: '64m' } }],
      },
      ['`tmpfs-mode`'],
    ],
    ['-v %cd%\\a:/a -v "${PWD}\\b:/b" x', { volumes: ['./a:/a', './b:/b'] }, []],
    ['-v "$PWD-data:/x" -v "$PWD":/y -v ${PWD}/z:/z x', { volumes: ['${PWD}-data:/x', '.:/y', './z:/z'] }, []],
    [
      '-e A=${X:=y} -e B=${X=y} -e C=${X:-a$B} -e D=${X-${B:-c}} -e E="${X:+$B}" -e F=${X:?no X} x',
      {
        environment: {
          A: '${X:-y}',
          B: '${X-y}',
          C: '${X:-a${B}}',
          D: '${X-${B:-c}}',
          E: '${X:+${B}}',
          F: '${X:?no X}',
        },
      },
      [],
    ],
    [
      `-e A=\${X:-"a b"'c'} -e B="\${X:-a'b'}" -e C=\${X:-a\\$b} -e 'D=\${X}' x`,
      { environment: { A: '${X:-a bc}', B: "${X:-a'b'}", C: '${X:-a$$b}', D: '$${X}' } },
      [],
    ],
    [
      '-e A=${V%.*} -e B=${V^^} -e C=${V/x/${Y}} -e D=${#V} -e E=${!V} -e F=${V[1]} -e G=${V:-$(hostname)} x',
      {},
      [
        '`-e` is not carried over: it contains `${V%.*}`, and a Compose file cannot compute it',
        '`${V^^}`',
        '`${V/x/${Y}}`',
        '`${#V}`',
        '`${!V}`',
        '`${V[1]}`',
        'the output of `hostname`',
      ],
    ],
    ['-e A=${V:-$1} -e B=${1:-${X}} x', {}, ['`$1`, and a Compose file has no parameters', '`${1:-${X}}`, and']],
    ['-e "$KEY=$VALUE" -e $ALL -l "$LK=1" -e A=$B x', { environment: { A: '${B}' } }, ['`-e`', '`-e`', '`-l`']],
    ['--network $NET --network net-$ENV x', { networks: ['NET', 'net-ENV'] }, []],
    [
      '-v data-$ENV:/a -v d-${ENV:-x}:/b -v $VOLUME:/c --mount src=$V,dst=/d x',
      {
        volumes: ['data-ENV:/a', 'd-ENV:/b', '${VOLUME}:/c', { type: 'volume', source: 'V', target: '/d' }],
      },
      [],
    ],
    ['--pid container:My_db --ipc container:a x', { pid: 'service:My_db', ipc: 'service:a' }, []],
    ['--pid host --ipc shareable x', { pid: 'host', ipc: 'shareable' }, []],
    [
      '--blkio-weight-device /dev/sda:4 --io-maxbandwidth 1m --io-maxiops 5 x',
      {},
      ['`--blkio-weight-device`', '`--io-maxbandwidth`', '`--io-maxiops`'],
    ],
    [
      '--cpu-rt-period 95000 --cpu-rt-runtime=1000 --cpu-count 2 --cpu-percent 50 x',
      { cpu_rt_period: 95000, cpu_rt_runtime: 1000, cpu_count: 2, cpu_percent: 50 },
      [],
    ],
    ['-t=false -i=1 --init=0 --privileged=F x', { tty: false, stdin_open: true, init: false, privileged: false }, []],
    ['-it=false -P=false --no-healthcheck=false --init=$I x', { stdin_open: true, tty: false, init: '${I}' }, []],
    ['-d=false --rm=t x', { restart: 'no' }, []],
    ['-d=true --rm x', {}, []],
    ['--detach=false --rm=0 x', {}, []],
    ['--gpus device=0,capabilities=utility x', { gpus: [{ device_ids: ['0'], capabilities: ['utility'] }] }, []],
    [
      `--gpus '"device=0,GPU-1",driver=nvidia,"capabilities=compute,utility",other=1' x`,
      { gpus: [{ device_ids: ['0', 'GPU-1'], driver: 'nvidia', capabilities: ['compute', 'utility'] }] },
      ['`--gpus`'],
    ],
    ['--gpus device=0,1 x', { gpus: [{ device_ids: ['0', '1'] }] }, []],
    ['--gpus 2 x', { gpus: [{ count: 2 }] }, []],
    ['--gpus all,capabilities=utility x', { gpus: [{ count: 'all', capabilities: ['utility'] }] }, []],
  ])('each value of a command is kept or reported: %s', async (line, service, lost) => {
    const { status, stdout, stderr } = await run(['migrate', 'd.sh'], {
      cwd: folder({ 'd.sh': `docker run --name web ${line}\n` }),
    })
    expect(status, stderr).toBe(0)
    expect((parse(stdout) as { services: { web: object } }).services.web).toEqual({ image: 'x', ...service })
    expect(stderr.split('is not carried over').length - 1, stderr).toBe(lost.length)
    for (const text of lost) expect(stderr).toContain(text)
  })

  const V = '$' + '{R:-3}'
  test.each<readonly [labels: object, keys: object, added: object, lost: readonly string[]]>([
    [{ 'service.healthcheck.readiness.retries': V }, {}, { healthcheck: { retries: V } }, []],
    [{ 'service.healthcheck.readiness.disable': V }, {}, {}, ['service.healthcheck.readiness.disable']],
    [{ 'image-pull-policy': V }, {}, {}, ['image-pull-policy']],
    [
      { 'service.type': 'nodeport', 'service.nodeport.port': '30080' },
      { ports: ['80:80'] },
      {
        ports: [{ target: 80, published: '80', 'x-expose': { type: 'NodePort', nodePort: 30080 } }],
      },
      [],
    ],
    [
      { 'service.type': 'nodeport', 'service.nodeport.port': '30080' },
      { ports: ['80:80', '81:81'] },
      {
        ports: [80, 81].map(target => ({ target, published: String(target), 'x-expose': { type: 'NodePort' } })),
      },
      ['service.nodeport.port'],
    ],
    [
      { 'service.type': 'nodeport', 'service.nodeport.port': V },
      { ports: ['80:80'] },
      {
        ports: [{ target: 80, published: '80', 'x-expose': { type: 'NodePort' } }],
      },
      ['service.nodeport.port'],
    ],
    [{ 'service.name_override': 'api' }, { network_mode: 'none' }, {}, ['service.name_override']],
    [{ 'security-context.fsgroup': '1000' }, { group_add: ['2000'] }, {}, ['security-context.fsgroup']],
    [{ 'security-context.fsgroup': '1000' }, { group_add: ['1000'] }, {}, []],
    [
      { 'controller.type': 'daemonset', 'hpa.replicas.max': '3', 'hpa.cpu': '50' },
      {
        deploy: { resources: { limits: { cpus: '1' } } },
      },
      { deploy: { resources: { limits: { cpus: '1' } }, mode: 'global' } },
      ['hpa.replicas.max', 'hpa.cpu'],
    ],
  ])('each label of kompose is converted or reported: %o', async (labels, keys, added, lost) => {
    const named = Object.fromEntries(
      Object.entries(labels).map(([name, value]) => [`kompose.${name}`, value as string]),
    )
    const service = { image: 'x', ...keys, labels: named }
    const cwd = folder({ 'compose.yaml': stringify({ services: { web: service } }) })
    const { status, stderr } = await run(['migrate', '--write'], { cwd })
    expect(status, stderr).toBe(0)
    const { services } = parse(readFileSync(join(cwd, 'compose.yaml'), 'utf8')) as { services: { web: object } }
    expect(services.web).toEqual({ ...service, ...added })
    expect([...stderr.matchAll(/`kompose\.([^`]*)` is not carried over/g)].map(([, name]) => name)).toEqual(lost)
  })

  test.each<readonly [volume: object, added: object, isLost: boolean]>([
    [{ external: true }, {}, true],
    [{ external: { name: 'x' } }, {}, true],
    [{ external: V }, {}, true],
    [{ external: false }, { driver_opts: { size: '1Gi', class: 'fast' } }, false],
    [{ driver: 'local' }, { driver_opts: { size: '1Gi', class: 'fast' } }, false],
  ])('labels of kompose about volumes do not change external volumes: %o', async (volume, added, isLost) => {
    const labels = { 'kompose.volume.size': '1Gi', 'kompose.volume.storage-class-name': 'fast' }
    const services = { web: { image: 'x', volumes: ['data:/d'], labels } }
    const cwd = folder({ 'compose.yaml': stringify({ services, volumes: { data: volume } }) })
    const { status, stderr } = await run(['migrate', '--write'], { cwd })
    expect(status, stderr).toBe(0)
    const { volumes } = parse(readFileSync(join(cwd, 'compose.yaml'), 'utf8')) as { volumes: object }
    expect(volumes).toEqual({ data: { ...volume, ...added } })
    const lost = [...stderr.matchAll(/`kompose\.volume\.([^`]*)` is not carried over: the volume `data` is external/g)]
    expect(lost.map(([, name]) => name)).toEqual(isLost ? ['size', 'storage-class-name'] : [])
  })

  test('variables of Okteto are renamed only where devctl sets their new names', async () => {
    const before = [
      'deploy:',
      '  - deploy $OKTETO_NAMESPACE ${OKTETO_BUILD_API_IMAGE}',
      'dev:',
      '  api:',
      '    image: ${OKTETO_BUILD_API_IMAGE}',
      '    environment: ["NS=${OKTETO_NAMESPACE}"]',
      '    command: ["sh"] # $OKTETO_DOMAIN',
      'destroy: ["destroy ${OKTETO_NAME:-x}"]',
      'forward: []',
      '',
    ]
    const after = before
      .join('\n')
      .replaceAll('OKTETO_', 'DEVCTL_')
      .replace(/(?<=NS=\$\{|# \$)DEVCTL_/g, 'OKTETO_')
    const { status, stdout, stderr } = await run(['migrate'], { cwd: folder({ 'okteto.yml': before.join('\n') }) })
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: after })
  })

  test.each<readonly [keys: object, rules: object | undefined]>([
    [{ expose: ['3000/tcp'] }, { web: [{ path: '/', service: 'web', port: 3000 }] }],
    [
      { ports: [{ target: 80, published: '80', host_ip: '127.0.0.1' }] },
      { web: [{ path: '/', service: 'web', port: 80 }] },
    ],
    [{ ports: [{ target: 80, published: '80' }] }, undefined],
  ])('a service of kompose that is to be public gets a rule unless a port is public: %o', async (keys, rules) => {
    const service = {
      image: 'x',
      ...keys,
      labels: { 'kompose.service.expose': 'true', 'kompose.image-pull-policy': 'Never' },
    }
    const cwd = folder({ 'compose.yaml': stringify({ services: { web: service } }) })
    const { stderr } = await run(['migrate', '--write'], { cwd })
    expect(stderr).not.toContain('is not carried over')
    const { endpoints } = parse(readFileSync(join(cwd, 'compose.yaml'), 'utf8')) as { endpoints?: object }
    expect(endpoints).toEqual(rules)
  })

  test.each<readonly [line: string, service: object, lost: readonly string[]]>([
    ['run -d $DOCKER_OPTS --name web nginx', { image: 'nginx' }, ['$DOCKER_OPTS']],
    ['run -d "${ARGS[@]}" --name web nginx sh', { image: 'nginx', command: ['sh'] }, ['"${ARGS[@]}"']],
    ['run -d "$@" --name web nginx', { image: 'nginx' }, ['"$@"']],
    ['run --name web ${EXTRA:+-v $PWD:/x} nginx', { image: 'nginx' }, ['${EXTRA:+-v $PWD:/x}']],
    ['run --name web ${TTY:--t} nginx', { image: 'nginx' }, ['${TTY:--t}']],
    ['run --name web $X nginx:1', { image: 'nginx:1' }, ['$X']],
    ['run --name web $X ghcr.io/a/b', { image: 'ghcr.io/a/b' }, ['$X']],
    ['run --name web $X $IMAGE', { image: '${IMAGE}' }, ['$X']],
    ['run $X --name web nginx', { image: 'nginx' }, ['$X']],
    ['$OPTS run -d --name web nginx', { image: 'nginx' }, ['$OPTS']],
    ['--context $C container run -d --name web nginx', { image: 'nginx' }, []],
    ['run --name web $X', { image: '${X}' }, []],
    ['run --name web $X sh', { image: '${X}', command: ['sh'] }, []],
    ['run --name web $X /bin/sh', { image: '${X}', command: ['/bin/sh'] }, []],
    ['run --name web $X --serve', { image: '${X}', command: ['--serve'] }, []],
    ['run --name web "$X" -d nginx:1', { image: '${X}', command: ['-d', 'nginx:1'] }, []],
    ['run --name web $TARGET sh', { image: '${TARGET}', command: ['sh'] }, []],
    ['run --name web $EXTRA_IMAGE sh', { image: '${EXTRA_IMAGE}', command: ['sh'] }, []],
    ['run --name web $IMAGE_OPTS "$IMAGE_NAME" sh', { image: '${IMAGE_NAME}', command: ['sh'] }, ['$IMAGE_OPTS']],
    ['run --name web $X "$IMAGE"', { image: '${IMAGE}' }, ['$X']],
    ['run --name web $IMG -d nginx:1', { image: '${IMG}', command: ['-d', 'nginx:1'] }, []],
    ['run --name web $IMAGE:$TAG nginx:1', { image: '${IMAGE}:${TAG}', command: ['nginx:1'] }, []],
  ])('a variable that contains flags is not the image: docker %s', async (line, service, lost) => {
    const { status, stdout, stderr } = await run(['migrate', 'd.sh'], { cwd: folder({ 'd.sh': `docker ${line}\n` }) })
    expect(status, stderr).toBe(0)
    expect(parse(stdout)).toEqual({ services: { web: service } })
    const found = [...stderr.matchAll(/`(.*)` is not carried over: it may contain flags of `docker/g)]
    expect(found.map(([, what]) => what)).toEqual(lost)
    expect(stderr.split('is not carried over').length - 1, stderr).toBe(lost.length)
  })

  test('variables in the names of volumes and networks are in their `name`, and the result is valid', async () => {
    const line = 'docker run -d --name My_db -v data-$ENV:/d -v x:/x --network net-$ENV postgres'
    const other = 'docker run -d --name web --pid container:My_db --ipc=container:My_db nginx'
    const cwd = folder({ 'd.sh': `${line}\n${other}\n`, '.env': 'ENV=test\n' })
    await run(['migrate', '--write', 'd.sh'], { cwd })
    expect(parse(readFileSync(join(cwd, 'compose.yaml'), 'utf8'))).toMatchObject({
      services: { web: { pid: 'service:my-db', ipc: 'service:my-db' } },
      volumes: { 'data-ENV': { name: 'data-${ENV}' }, x: null },
      networks: { 'net-ENV': { name: 'net-${ENV}' } },
    })
    const { stderr } = await run(['validate'], { cwd })
    expect(stderr).not.toMatch(/schema|reference|interpolation/)
  })

  test('a variable may be called as a property of all objects', async () => {
    const { stdout } = await run(['migrate', '--', 'docker', 'run', '-e', '__proto__=x', 'nginx'], { cwd: folder({}) })
    expect(stdout).toContain('    environment:\n      __proto__: x\n')
  })

  const PAGE = '# Shop\n\n```sh\ndocker run -d -p 8080:80 nginx\n```\n\n```yaml\nservices:\n  web:\n    image: x\n```\n'
  const HERE = 'cat > compose.yaml <<EOF\nservices:\n  web:\n    image: x\nEOF\ndocker run -d -p 8080:80 nginx\n'
  test.each([
    ['README.md', PAGE],
    ['README.txt', PAGE],
    ['start.sh', HERE],
    ['start', `#!/bin/sh\n${HERE}`],
    ['start', HERE],
  ])('a script or page may contain a Compose file: %s', async (name, text) => {
    const { status, stdout, stderr } = await run(['migrate', name], { cwd: folder({ [name]: text }) })
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: NGINX, stderr: '' })
  })

  test.each([
    ['compose.yaml', 'services:\n  web:\n    image: x\n'],
    ['compose.yaml.tmpl', '# docker run x\nservices:\n  web:\n    image: x\n'],
    ['compose.json', '{"services": {"web": {"image": "x"}}}\n'],
  ])('a Compose file may have any name: %s', async (name, text) => {
    const labels = ', "labels": {"kompose.image-pull-policy": "Always"}'
    const labelled = text.includes('{')
      ? text.replace('"x"', `"x"${labels}`)
      : `${text}    labels: {kompose.image-pull-policy: Always}\n`
    const { status, stdout, stderr } = await run(['migrate', name], { cwd: folder({ [name]: labelled }) })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('pull_policy')
  })

  test.each([
    ['sh', '\\'],
    ['PowerShell', '`'],
    ['cmd.exe', '^'],
  ])('a command may continue on the next line as in %s', async (_, mark) => {
    for (const end of ['\n', '\r\n', ` \t${'\n'}`]) {
      if (mark === '\\' && end.startsWith(' ')) continue
      const lines = ['docker run -d', '  --name web', '  -e "A=1"', '  nginx', '  sh']
      const text = `# Starts it.\n${lines.join(` ${mark}${end}`)}\necho done\n`
      const { status, stdout, stderr } = await run(['migrate', 'd.txt'], { cwd: folder({ 'd.txt': text }) })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      const service = { image: 'nginx', command: ['sh'], environment: { A: '1' } }
      expect(parse(stdout)).toEqual({ services: { web: service } })
    }
  })

  test('a page may have PowerShell commands between commands in backticks', async () => {
    const text = 'Use `docker run --name a x`:\n\n```powershell\ndocker run `\n  --name b `\n  x\n```\n'
    const { stdout, stderr } = await run(['migrate', 'd.md'], { cwd: folder({ 'd.md': text }) })
    expect(stderr).toBe('')
    expect(Object.keys((parse(stdout) as { services: object }).services)).toEqual(['a', 'b'])
  })

  test.each(['docker run -d ""', "docker run -d ''", 'docker run -d ^', 'docker run `'])(
    'a command without an image is refused: %s',
    async line => {
      const { status, stdout, stderr } = await run(['migrate', 'd.txt'], { cwd: folder({ 'd.txt': `${line}\n` }) })
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
      expect(stderr).toContain('the command has no image')
    },
  )

  test.each([
    ['docker run --name a x && docker run --name b x', ['a', 'b']],
    ['docker run --name a x; docker run --name b x;docker run --name c x', ['a', 'b', 'c']],
    ['docker run --name a x | docker run --name b x || sudo docker run --name c x', ['a', 'b', 'c']],
    ['docker run --name a x & (docker run --name b x) && { docker run --name c x; }', ['a', 'b', 'c']],
    ['A="1 2" docker run --name a x; if true; then docker run --name b x; fi', ['a', 'b']],
    ['docker run --name a x > log 2>&1 && docker run --name b x', ['a', 'b']],
    ['ID=$(docker run --name a x); X=`true && docker run --name b x`; docker run --name c x', ['a', 'b', 'c']],
    ['Use `docker run --name a x && docker run --name b x`, or `docker run --name c x`.', ['a', 'b', 'c']],
    ['docker run --name a x sh -c "true; docker run --name b x" && docker run --name c x', ['a', 'c']],
    ['docker run --name a x # ; docker run --name b x', ['a']],
    ['docker run --name a x\n# docker run --name b x && docker run --name c x', ['a']],
  ])('each command of a line becomes a service: %s', async (script, names) => {
    const { stdout, stderr } = await run(['migrate', 'd.sh'], { cwd: folder({ 'd.sh': `${script}\n` }) })
    expect(stderr).toBe('')
    expect(Object.keys((parse(stdout) as { services: object }).services)).toEqual(names)
  })

  test.each([
    [String.raw`$'x\ny\t\\ \' $A'`, "x\ny\t\\ ' $$A"],
    [String.raw`$'\xc3\xa9 \u00e9 \U1F600 \351'`, undefined],
    [String.raw`$'\xc3\xa9\x41g \u00e9 \U1F600 \101\q\😀'`, 'éAg é 😀 A\\q\\😀'],
    [String.raw`a$'\x21'"b$'c'"`, "a!b$$'c'"],
    ['$"text"', 'text'],
    ["$'a\\0b'", undefined],
    ["$'a", undefined],
  ])("migrate reads the escapes of $'…', or refuses them: %s", async (word, value) => {
    const script = `docker run -e A=${word} --name web x\n`
    const { status, stdout, stderr } = await run(['migrate', 'd.sh'], { cwd: folder({ 'd.sh': script }) })
    if (value === undefined) {
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
      expect(stderr).toMatch(
        /error\[migrate\/bad-command\]: (?:a value in `\$'…'` is not UTF-8 text|a quote \(`\$'`\))/,
      )
    } else expect([stderr, parse(stdout).services.web.environment]).toEqual(['', { A: value }])
  })

  test('arguments after `--` keep their spaces, quotes and dollar signs', async () => {
    const args = ['-e', `A=it's "$HOME"`, 'example/api', 'sh', '-c', 'echo $A; true']
    const { stdout } = await run(['migrate', '--', ...args], { cwd: folder({}) })
    const { services } = parse(stdout) as { services: { api: unknown } }
    expect(services.api).toEqual({
      image: 'example/api',
      command: ['sh', '-c', 'echo $$A; true'],
      environment: { A: `it's "$$HOME"` },
    })
  })

  test('migrate does not overwrite a file unless it is told to, and then keeps a copy', async () => {
    const cwd = folder({ 'compose.yaml': 'services: {}\n' })
    const args = ['migrate', '--write', '--', ...COMMAND]
    expect(await run(args, { cwd })).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('`compose.yaml` already exists'),
    })
    expect(readFileSync(join(cwd, 'compose.yaml'), 'utf8')).toBe('services: {}\n')
    const { status, stdout } = await run(['migrate', '--replace', ...args.slice(1)], { cwd })
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: 'written: compose.yaml\nkept: compose.yaml.bak\nnext: devctl validate\n',
    })
    expect(textsIn(cwd)).toEqual(
      new Map([
        ['compose.yaml', NGINX],
        ['compose.yaml.bak', 'services: {}\n'],
      ]),
    )
  })

  const labelled = 'services:\n  web:\n    image: nginx\n    labels: {kompose.image-pull-policy: Always}\n'

  test.each([
    ['an edited file', 'compose.yaml', ['compose.yaml']],
    ['a replaced file', 'out.yaml', ['--to', 'out.yaml', '--replace', '--', ...COMMAND]],
  ])('migrate refuses links that lead out of the project: %s', async (_, link, args) => {
    const outside = folder({ 'victim.yaml': labelled })
    const cwd = folder({})
    const victim = join(outside, 'victim.yaml')
    symlinkSync(victim, join(cwd, link))
    expect(await run(['migrate', '--write', ...args], { cwd })).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining(`\`${link}\` is a link to \`${victim}\`, which is outside the project`),
    })
    expect([readFileSync(victim, 'utf8'), readdirSync(cwd), readdirSync(outside)]).toEqual([
      labelled,
      [link],
      ['victim.yaml'],
    ])
    const named = await run(['migrate', '--write', victim], { cwd })
    expect(named).toMatchObject({ status: 0, stdout: expect.stringContaining('written: ') })
  })

  test('migrate follows links within the project', async () => {
    const cwd = folder({ 'real.yaml': labelled })
    symlinkSync('real.yaml', join(cwd, 'compose.yaml'))
    expect(await run(['migrate', '--write'], { cwd })).toMatchObject({ status: 0 })
    expect(readFileSync(join(cwd, 'real.yaml'), 'utf8')).toContain('pull_policy')
  })

  test('migrate neither reads nor replaces a pipe that nothing writes to', async () => {
    const cwd = folder({})
    execFileSync('mkfifo', [join(cwd, 'compose.yaml')])
    expect(await run(['migrate'], { cwd })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('cannot read `compose.yaml`: it is a pipe that nothing writes to'),
    })
    expect(await run(['migrate', '--write', '--replace', '--', ...COMMAND], { cwd })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is not a regular file'),
    })
  })

  test('a new file has the mode of the umask', async () => {
    const cwd = folder({})
    await run(['migrate', '--write', '--to', 'new/web.yaml', '--', ...COMMAND], { cwd })
    const modes = ['new', 'new/web.yaml'].map(name => statSync(join(cwd, name)).mode & 0o777)
    expect(modes).toEqual([0o777 & ~process.umask(), 0o666 & ~process.umask()])
  })

  test('migrate writes no file if one of several may not be replaced', async () => {
    const files = { 'okteto.yml': 'deploy:\n  - "true"\n', 'devctl.yml': 'name: mine\n', 'compose.yaml': labelled }
    const cwd = folder(files)
    expect(await run(['migrate', '--write'], { cwd })).toMatchObject({ status: 1 })
    expect(textsIn(cwd)).toEqual(new Map(Object.entries(files).sort()))
  })

  test('--to names the file that is written', async () => {
    const cwd = folder({})
    const { stdout } = await run(['migrate', '--write', '--to', 'web.yaml', '--', ...COMMAND], { cwd })
    expect(stdout).toContain('written: web.yaml')
    expect(existsSync(join(cwd, 'compose.yaml'))).toBe(false)
  })

  test('--to leaves a Compose file as it is, and writes the edited one', async () => {
    const cwd = folder({ 'compose.yaml': labelled })
    await run(['migrate', 'compose.yaml', '--write', '--to', 'new.yaml'], { cwd })
    expect(textsIn(cwd)).toEqual(
      new Map([
        ['compose.yaml', labelled],
        ['new.yaml', `${labelled}    pull_policy: always\n`],
      ]),
    )
  })

  test('migrate writes nothing if two results would be one file', async () => {
    const files = { 'a.sh': `${COMMAND.join(' ')}\n`, 'b.sh': 'docker run -d redis\n' }
    const cwd = folder(files)
    expect(await run(['migrate', 'a.sh', 'b.sh', '--write'], { cwd })).toEqual({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('two of the results would be `compose.yaml`'),
    })
    expect(textsIn(cwd)).toEqual(new Map(Object.entries(files)))
  })

  test.each([[[]], [['-o', 'json']]])('the result has the values of the input, also of secrets: %j', async options => {
    const cwd = folder({ 'd.sh': 'docker run -e K=apisecret99 nginx\n' })
    const { stdout } = await run(['migrate', ...options, 'd.sh'], { cwd, env: { API_SECRET: 'apisecret99' } })
    expect(stdout).toMatch(/\bK: apisecret99\b/)
  })

  test('-o json prints the files and the notes', async () => {
    const cwd = folder({ 'okteto.yml': 'icon: x\ndeploy:\n  - "true"\n' })
    const { stdout, stderr } = await run(['migrate', '-o', 'json'], { cwd })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({
      files: [{ path: 'devctl.yml', isChanged: true, isWritten: false, text: 'deploy:\n  - "true"\n' }],
      diagnostics: [{ code: 'okteto/unneeded-key', file: 'okteto.yml', range: { start: { line: 1 } } }],
    })
    const refused = await run(['migrate', '-o', 'json', '--', '--nope', 'nginx'], { cwd })
    expect(refused.status).toBe(1)
    expect(JSON.parse(refused.stdout)).toMatchObject({ files: [], diagnostics: [{ code: 'migrate/unknown-flag' }] })
  })

  test('files with a byte order mark and Windows line ends are converted', async () => {
    const compose =
      '\ufeffservices:\r\n  web:\r\n    image: nginx\r\n    ports: ["80:80"]\r\n    labels:\r\n      kompose.service.type: nodeport\r\n'
    const cwd = folder({ 'compose.yaml': compose, 'run.sh': '\ufeffdocker run \\\r\n  --name db postgres\r\n' })
    expect((await run(['migrate', '--write'], { cwd })).stdout).toContain('written: compose.yaml')
    const written = readFileSync(join(cwd, 'compose.yaml'), 'utf8')
    expect(written).toBe(compose.replace('"80:80"', '{target: 80, published: "80", x-expose: {type: NodePort}}'))
    expect((await run(['migrate', 'run.sh'], { cwd })).stdout).toBe('services:\n  db:\n    image: postgres\n')
  })

  test('labels whose values are lists or mappings are reported', async () => {
    const labels = '{kompose.service.expose: {host: a}, kompose.service.expose.tls-secret: [a]}'
    const cwd = folder({ 'compose.yaml': `services: {web: {image: nginx, ports: ["80:80"], labels: ${labels}}}\n` })
    const { status, stdout, stderr } = await run(['migrate'], { cwd })
    expect([status, stdout]).toEqual([0, ''])
    expect(stderr).toContain('`kompose.service.expose` is not carried over: its value is not text')
    expect(stderr).toContain('`kompose.service.expose.tls-secret` is not carried over: its value is not text')
  })

  test('values of labels may be variables', async () => {
    const cwd = folder({
      'compose.yaml': 'services: {web: {image: nginx, labels: {kompose.image-pull-policy: "${POLICY:-Always}"}}}\n',
    })
    expect((await run(['migrate'], { cwd })).stderr).not.toContain('is not a pull policy')
  })

  test.each([
    ['deploy: 5', '`deploy` must be a list or a mapping, not the number `5`'],
    ['deploy: {commands: 5}', '`deploy.commands` must be a list, not the number `5`'],
    ['build: {a: 5}', '`build.a` must be'],
    ['dev: {a: {image: x, sync: ["a"]}}', '`dev.a.sync[0]` is `a`: the folder in the container is missing'],
  ])('an Okteto manifest with `%s` is refused, because the result would have it', async (text, message) => {
    const cwd = folder({ 'okteto.yml': `${text}\n` })
    const { status, stdout, stderr } = await run(['migrate', '--write'], { cwd })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toContain(message)
    expect(stderr).toContain('--> okteto.yml:1:')
    expect(existsSync(join(cwd, 'devctl.yml'))).toBe(false)
  })

  test.each([
    ['nothing to migrate', [], 1, 'this folder has nothing to migrate'],
    ['a file without anything to migrate', ['plain.yaml'], 1, '`plain.yaml` has nothing to migrate'],
    ['a missing file', ['missing.yml'], 1, 'the file `missing.yml` does not exist'],
    ['files and a command', ['plain.yaml', '--', 'nginx'], 2, 'cannot be combined'],
    ['broken YAML', ['okteto.yml'], 1, 'error[yaml/syntax]'],
  ])('migrate says what is wrong: %s', async (_, args, status, message) => {
    const cwd = folder({ 'plain.yaml': NGINX, ...(args[0] === 'okteto.yml' && { 'okteto.yml': 'a: b: c\n' }) })
    const result = await run(['migrate', ...args], { cwd })
    expect(result).toEqual({ status, stdout: '', stderr: expect.stringContaining(message) })
  })
})
