import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type KubeconfigAccess, kubeconfigAccess } from '../../../adapters/kubernetes/connection.ts'
import { openExec } from '../../../adapters/kubernetes/exec.ts'
import { openPortForward } from '../../../adapters/kubernetes/port-forward.ts'
import { createSshKeyPair } from '../../../adapters/ssh/keys.ts'
import { SHARED_FOLDER, SHARED_PATH } from '../../../constructs/mirror/names.ts'
import { AgentLink } from '../../../develop/ports/agent-link.ts'
import { type OpenForwards, openForwards } from '../../../develop/ports/open-forwards.ts'
import { openAgent } from '../../../develop/session/session-parts.ts'
import { sshConfigFile } from '../../../develop/ssh/entry.ts'
import { type OpenFront, openFront } from '../../../develop/ssh/open-front.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { freePort } from '../../support/develop/free-port.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { bundledSshServer } from './agent-bundle.ts'
import { startPod } from './pod.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** Servers that answer on port 8080 of the Pod's address and on port 8081 of its loopback address. */
const SERVERS = `
const { createServer } = require('node:net')
const answer = text => socket => socket.on('error', () => {}).end(text)
const address = Object.values(require('node:os').networkInterfaces()).flat().find(one => !one.internal).address
createServer(answer('address')).listen(8080, address)
createServer(answer('loopback')).listen(8081, '127.0.0.1')
`
const SSH_PORT = 2222
const NAME = 'box'
/** Number of megabytes, more than the windows of a channel. */
const MEGABYTES = TAKES_ALL ? 20 : 5

describe.skipIf(cluster === undefined)('SSH to a container without a server', () => {
  const namespace = `ssh-${process.pid}`
  const [host, user] = [createSshKeyPair('host'), createSshKeyPair('user')]
  const control = new AbortController()
  const link = new AgentLink()
  const children: ChildProcess[] = []
  let access: KubeconfigAccess
  let home = ''
  let front: OpenFront
  let forwards: OpenForwards

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'devctl ssh-'))
    await cluster!.createNamespace(namespace)
    await cluster!.apply(
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'agent' },
        stringData: {
          'agent.cjs': await bundledSshServer(),
          'keys.json': JSON.stringify({
            sshPort: SSH_PORT,
            shared: '/run/devctl/shared',
            hostKey: host.privateKey,
            userKey: user.publicKey,
          }),
        },
      } as never,
      namespace,
    )
    await startPod(cluster!, namespace, NAME, {
      securityContext: {
        runAsUser: 1000,
        runAsGroup: 1000,
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      initContainers: [
        {
          name: 'tools',
          image: 'busybox:1.37',
          command: ['cp', '/bin/busybox', '/devctl-tools/busybox'],
          volumeMounts: [{ name: 'tools', mountPath: '/devctl-tools' }],
        },
      ],
      containers: [
        {
          name: 'agent',
          image: 'node:22-alpine',
          command: ['node', '-e', 'require("/code/agent.cjs").start(require("/code/keys.json"))'],
          volumeMounts: [
            { name: 'code', mountPath: '/code' },
            { name: 'run', mountPath: '/run/devctl' },
          ],
        },
        {
          name: 'main',
          image: 'node:22-alpine',
          command: ['node', '-e', SERVERS],
          env: [{ name: 'FROM_POD', value: 'yes' }],
          volumeMounts: [
            { name: 'tools', mountPath: '/devctl-tools' },
            { name: 'work', mountPath: '/work' },
            { name: 'run', mountPath: SHARED_PATH, subPath: SHARED_FOLDER, readOnly: true },
          ],
        },
      ],
      volumes: [
        { name: 'tools', emptyDir: {} },
        { name: 'work', emptyDir: {} },
        { name: 'run', emptyDir: { medium: 'Memory' } },
        { name: 'code', secret: { secretName: 'agent' } },
      ],
    })
    access = await kubeconfigAccess(undefined, process.env)
    const keys = { hostKey: host.publicKey, userKey: user.privateKey }
    void link.keep(
      signal => openAgent(openPortForward(access, { pod: NAME, namespace, port: SSH_PORT }, { signal }), keys),
      control.signal,
    )
    front = await openFront({
      home,
      dev: NAME,
      namespace,
      cluster: { id: 'c1', name: 'test' },
      port: undefined,
      link,
      container: {
        tool: '/devctl-tools/busybox',
        workdir: '/work',
        shared: SHARED_PATH,
        run: (command, options, signal) =>
          openExec(access, { pod: NAME, namespace, container: 'main', command, ...options }, { signal }),
      },
    })
    forwards = await openForwards(
      {
        forwards: [
          { localPort: 0, remotePort: 8080, whenBusy: 'move' },
          { localPort: 0, remotePort: 8081, whenBusy: 'move' },
        ],
        reverse: [],
        address: 'localhost',
        link,
      },
      () => {},
    )
    await link.current(20_000)
  })
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    forwards?.close()
    await front?.close()
    control.abort()
    rmSync(home, { recursive: true, force: true })
    await cluster?.deleteNamespace(namespace)
    cluster?.close()
  })

  const options = () => ['-F', sshConfigFile(home)]

  /** Runs a program of OpenSSH, or git, with devctl's configuration. */
  function program(name: string, words: readonly string[], stdin = '', cwd = home, more: NodeJS.ProcessEnv = {}) {
    return new Promise<{ readonly status: number; readonly out: string; readonly err: string }>(resolve => {
      const env = {
        PATH: process.env.PATH,
        HOME: home,
        GIT_SSH_COMMAND: `ssh -F "${sshConfigFile(home)}"`,
        ...more,
      }
      const child = execFile(name, words, { env, cwd, timeout: 180_000, maxBuffer: 64 << 20 }, (error, out, err) => {
        const code = error ? (error.code ?? -1) : 0
        resolve({ status: typeof code === 'number' ? code : -1, out, err })
      })
      child.stdin!.end(stdin)
    })
  }
  const ssh = (words: readonly string[], stdin?: string) => program('ssh', [...options(), ...words], stdin)
  const sftp = (script: string, cwd?: string) =>
    program('sftp', [...options(), '-q', '-b', '-', `${NAME}.devctl`], script, cwd)
  const inBox = async (script: string) => (await ssh([`${NAME}.devctl`, script])).out

  test('ssh runs commands with input, errors and exit status in the working directory', async () => {
    expect(await ssh([`${NAME}.devctl`, 'cat; pwd; echo "$FROM_POD"; echo no >&2; exit 7'], 'in\n')).toEqual({
      status: 7,
      out: 'in\n/work\nyes\n',
      err: 'no\n',
    })
    expect(await ssh([`${NAME}.${namespace}.devctl`, 'echo it'])).toMatchObject({ status: 0, out: 'it\n' })
    expect(await ssh([`${NAME}.devctl`, 'kill -9 $$'])).toMatchObject({ status: 137 })
  })

  test('ssh runs a shell without a terminal that reads its commands', async () => {
    expect(await ssh(['-T', `${NAME}.devctl`], 'echo a\nid -u\nexit 3\n')).toMatchObject({
      status: 3,
      out: 'a\n1000\n',
    })
  })

  test('ssh opens a terminal with a size and forwarded variables', async () => {
    const { out, status } = await ssh([
      '-tt',
      '-o',
      'SetEnv=LC_THING=x',
      `${NAME}.devctl`,
      'tty; stty size; echo $LC_THING; exit 4',
    ])
    expect(status).toBe(4)
    expect(out).toMatch(/\/dev\/pts\/\d+\r\n\d+ \d+\r\nx\r\n/)
  })

  test(`ssh carries ${MEGABYTES} MB each way`, async () => {
    const bytes = randomBytes(MEGABYTES * 1_000_000)
    const child = spawn('ssh', [...options(), `${NAME}.devctl`, 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
    children.push(child)
    child.stdin!.end(bytes)
    const hash = createHash('sha256')
    for await (const part of child.stdout!) hash.update(part)
    expect(hash.digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'))
  })

  test('a program ends when its ssh client ends', async () => {
    const child = spawn('ssh', [...options(), `${NAME}.devctl`, 'echo begun; exec sleep 4711'], { stdio: 'pipe' })
    children.push(child)
    await once(child.stdout!, 'data')
    const list = '/devctl-tools/busybox ps -o args'
    expect(await inBox(`${list} | grep -c '^[s]leep 4711' || true`)).toBe('1\n')
    child.kill()
    const ended = `for n in $(seq 300); do ${list} | grep -q '^[s]leep 4711' || { echo ended; exit; }; sleep 0.2; done`
    expect(await inBox(ended)).toBe('ended\n')
  })

  test('sftp lists, gets, puts, renames and removes files', async () => {
    const local = mkdtempSync(join(home, 'local-'))
    const bytes = randomBytes(1_000_000)
    writeFileSync(join(local, 'a file'), bytes, { mode: 0o755 })
    const { status, out, err } = await sftp(
      [
        'pwd',
        'mkdir one',
        'put -p "a file" one/',
        'put "a file" "one/it\'s \\"quoted\\""',
        'get "one/a file" back',
        'ln -s "a file" one/link',
        'rename "one/it\'s \\"quoted\\"" one/other',
        'ls -1 one',
        'ls -l one',
        'chmod 600 one/other',
        'rm one/other',
        '-rmdir one',
        '-get one/none',
      ].join('\n'),
      local,
    )
    expect({ status, err: err.replaceAll('\r', '') }).toMatchObject({
      status: 0,
      err: expect.stringMatching(/File "\/work\/one\/none" not found/),
    })
    expect(out).toMatch(/Remote working directory: \/work\n/)
    expect(out).toMatch(/one\/a file\s*\none\/link\s*\none\/other/)
    expect(out).toMatch(/-rwxr-xr-x .* 1000000 .*a file/)
    expect(hashOf(readFileSync(join(local, 'back')))).toBe(hashOf(bytes))
    expect(await inBox('cd one && ls && sha256sum <"a file" && stat -c %a "a file" && readlink link')).toBe(
      `a file\nlink\n${hashOf(bytes)}  -\n755\na file\n`,
    )
    const seconds = Math.floor(statSync(join(local, 'a file')).mtimeMs / 1000)
    expect(await inBox('stat -c %Y "one/a file"')).toBe(`${seconds}\n`)
  })

  longTest('sftp continues a partial file and reports missing permissions', async () => {
    const local = mkdtempSync(join(home, 'local-'))
    const bytes = randomBytes(900_000)
    writeFileSync(join(local, 'big'), bytes)
    await ssh([`${NAME}.devctl`, 'cat > part; mkdir -p deep/er'], '')
    const head = spawn('ssh', [...options(), `${NAME}.devctl`, 'cat > part'], { stdio: ['pipe', 'inherit', 'inherit'] })
    children.push(head)
    head.stdin!.end(bytes.subarray(0, 300_001))
    await once(head, 'exit')
    writeFileSync(join(local, 'again'), bytes.subarray(0, 600_001))
    const { status, err } = await sftp(
      ['reput big part', 'reget part again', '-put big /proc/nowhere', '-put big /etc/passwd', '-ls none'].join('\n'),
      local,
    )
    expect({ status, err }).toMatchObject({ status: 0 })
    expect(err).toMatch(/\/etc\/passwd.*Permission denied/s)
    expect(hashOf(readFileSync(join(local, 'again')))).toBe(hashOf(bytes))
    expect(await inBox('sha256sum <part')).toBe(`${hashOf(bytes)}  -\n`)
  })

  longTest('scp copies folders both ways', async () => {
    const local = mkdtempSync(join(home, 'local-'))
    mkdirSync(join(local, 'tree/deep'), { recursive: true })
    // Each file needs one program in the container.
    for (const size of [0, 3000, 70_000, ...Array.from({ length: 9 }, (_, index) => 1000 * index + 500)])
      writeFileSync(join(local, `tree/deep/${size}`), randomBytes(size))
    const scp = (...words: string[]) => program('scp', [...options(), '-q', '-r', ...words], '', local)
    expect(await scp('tree', `${NAME}.devctl:copied`)).toMatchObject({ status: 0, err: '' })
    expect(await scp(`${NAME}.devctl:copied`, 'back')).toMatchObject({ status: 0, err: '' })
    expect(readdirSync(join(local, 'back/deep')).sort()).toEqual(readdirSync(join(local, 'tree/deep')).sort())
    for (const name of readdirSync(join(local, 'tree/deep')))
      expect(hashOf(readFileSync(join(local, 'back/deep', name)))).toBe(
        hashOf(readFileSync(join(local, 'tree/deep', name))),
      )
  })

  test('forwards reach the loopback address and the address of the Pod', async () => {
    const port = (index: number) => Number(forwards.forwards[index]!.local.split(':').at(-1))
    expect(await ask(port(0))).toBe('address')
    expect(await ask(port(1))).toBe('loopback')
  })

  test('ssh opens tunnels with -L, -R, -D and -W', async () => {
    const here = await serve(socket => socket.end('here'))
    const [left, remote, dynamic] = [await freePort(), 9100, await freePort()]
    const child = spawn('ssh', [
      ...options(),
      ...['-N', '-o', 'ExitOnForwardFailure=yes', '-L', `${left}:localhost:8081`, '-D', `127.0.0.1:${dynamic}`],
      ...['-R', `${remote}:127.0.0.1:${here}`, `${NAME}.devctl`],
    ])
    children.push(child)
    await expect.poll(() => ask(left).catch(() => ''), { timeout: 60_000 }).toBe('loopback')
    expect(await throughSocks(dynamic, '127.0.0.1', 8081)).toBe('loopback')
    const dial = `require('net').connect(${remote}, '127.0.0.1').pipe(process.stdout)`
    await expect.poll(() => inBox(`node -e "${dial}"`), { timeout: 60_000 }).toBe('here')
    child.kill()
    expect(await ssh(['-W', 'localhost:8081', `${NAME}.devctl`])).toMatchObject({ out: 'loopback' })
  })

  test('the steps of the Remote-SSH extension of VS Code work', async () => {
    // The client asks for the platform in a shell, unpacks its server from its input, starts that in the background,
    // and connects to the port that it prints.
    const local = mkdtempSync(join(home, 'local-'))
    mkdirSync(join(local, 'server'))
    const code = `const s = require('net').createServer(c => c.end('code')).listen(0, '127.0.0.1', () => console.log('listening on ' + s.address().port))`
    writeFileSync(join(local, 'server/main.js'), code)
    const archive = await new Promise<Buffer>((resolve, reject) =>
      execFile('tar', ['-cz', 'server'], { cwd: local, encoding: 'buffer' }, (error, out) =>
        error ? reject(error) : resolve(out),
      ),
    )
    const uname = await ssh(
      ['-T', `${NAME}.devctl`, 'sh'],
      'uname -sm; echo "home $HOME"; touch "$HOME/.probe" && echo writable\n',
    )
    expect(uname.out).toMatch(/^Linux x86_64\nhome \/.+\nwritable\n$/)
    const unpack = spawn('ssh', [...options(), '-T', `${NAME}.devctl`, 'cd "$HOME" && tar -xz'])
    children.push(unpack)
    unpack.stdin.end(archive)
    expect((await once(unpack, 'exit'))[0]).toBe(0)
    const start = 'cd "$HOME/server" && nohup node main.js >log 2>&1 </dev/null & sleep 1; cat "$HOME/server/log"'
    const [, port] = /listening on (\d+)/.exec((await ssh(['-T', `${NAME}.devctl`, 'sh'], `${start}\n`)).out) ?? []
    expect(port).toBeDefined()
    // The server outlives the connection that has started it.
    expect(await ssh(['-W', `127.0.0.1:${port}`, `${NAME}.devctl`])).toMatchObject({ out: 'code' })
  })

  longTest('a connection of Remote-SSH keeps its tunnel open while its shell reads a script', async () => {
    const dynamic = await freePort()
    const child = spawn('ssh', [...options(), '-T', '-D', `${dynamic}`, `${NAME}.devctl`, 'sh'], { stdio: 'pipe' })
    children.push(child)
    const said: string[] = []
    child.stdout!.setEncoding('utf8').on('data', (part: string) => said.push(part))
    child.stdin!.write('echo "$((6 * 7)): begun"\n')
    await expect.poll(() => said.join(''), { timeout: 60_000 }).toBe('42: begun\n')
    // Other sessions come and go beside it.
    for (let index = 0; index < 2; index++) expect(await inBox(`echo ${index}`)).toBe(`${index}\n`)
    expect(await throughSocks(dynamic, '127.0.0.1', 8081)).toBe('loopback')
    child.stdin!.end('echo done; exit 5\n')
    expect((await once(child, 'exit'))[0]).toBe(5)
    expect(said.join('')).toBe('42: begun\ndone\n')
  })

  longTest('git clones a repository in the container and pushes to it', async () => {
    // The image has no git: that of this machine runs there with its own libraries.
    const local = mkdtempSync(join(home, 'local-'))
    const libraries = (await program('ldd', ['/usr/bin/git'])).out.match(/\/\S+/g) ?? []
    const loader = libraries.find(path => path.includes('/ld-')) ?? ''
    const archive = await new Promise<Buffer>((resolve, reject) =>
      execFile(
        'tar',
        ['-czh', '--transform', 's|.*/||', '/usr/bin/git', ...libraries],
        { encoding: 'buffer', maxBuffer: 64 << 20 },
        (error, out) => (error ? reject(error) : resolve(out)),
      ),
    )
    const unpack = spawn('ssh', [
      ...options(),
      '-T',
      `${NAME}.devctl`,
      'mkdir -p /tmp/git/bin && cd /tmp/git && tar -xz',
    ])
    children.push(unpack)
    unpack.stdin.end(archive)
    expect((await once(unpack, 'exit'))[0]).toBe(0)
    const run = `exec /tmp/git/${basename(loader)} --library-path /tmp/git /tmp/git/git`
    const set = `
cd /tmp/git/bin
export GIT_EXEC_PATH=/tmp/git/bin
printf '#!/bin/sh\\nexport GIT_EXEC_PATH=/tmp/git/bin\\n${run} "$@"\\n' > git
for one in upload-pack receive-pack; do printf '#!/bin/sh\\nexec /tmp/git/bin/git '$one' "$@"\\n' > git-$one; done
chmod +x *
./git init --quiet --template= --bare --initial-branch=main /tmp/repo.git
`
    expect(await ssh(['-T', `${NAME}.devctl`, 'sh'], set)).toMatchObject({ status: 0, err: '' })
    const git = (...words: string[]) =>
      program('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], '', join(local, 'clone'))
    const there = `ssh://${NAME}.devctl/tmp/repo.git`
    const clone = (to: string) =>
      program('git', ['clone', '-q', '-u', '/tmp/git/bin/git-upload-pack', there, to], '', local)
    expect(await clone('clone')).toMatchObject({ status: 0 })
    const bytes = randomBytes(500_000)
    writeFileSync(join(local, 'clone/big'), bytes)
    for (const words of [['add', '.'], ['commit', '-q', '-m', 'one'], PUSH])
      expect(await git(...words), words.join(' ')).toMatchObject({ status: 0 })
    expect(await clone('again')).toMatchObject({ status: 0 })
    expect(hashOf(readFileSync(join(local, 'again/big')))).toBe(hashOf(bytes))
  })

  test('ssh -A forwards the local SSH agent to the container, only for this session', async () => {
    const socket = join(home, 'agent.sock')
    const own = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' })
    children.push(own)
    await expect.poll(() => existsSync(socket), { timeout: 60_000 }).toBe(true)
    const key = join(home, 'agent-key')
    await program('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    const env = { SSH_AUTH_SOCK: socket }
    expect(await program('ssh-add', ['-q', key], '', home, env)).toMatchObject({ status: 0 })
    // Requests the list of keys, and prints the type of the answer and the number of keys.
    const ask = `const s = require('net').connect(process.env.SSH_AUTH_SOCK).once('data', d => { console.log(d[4], d.readUInt32BE(5)); s.destroy() }); s.write(Buffer.from([0, 0, 0, 1, 11]))`
    const line = `stat -c %a "$SSH_AUTH_SOCK"; for one in 1 2 3; do node -e "${ask}"; done`
    expect(await program('ssh', [...options(), '-A', `${NAME}.devctl`, line], '', home, env)).toEqual({
      status: 0,
      out: '600\n12 1\n12 1\n12 1\n',
      err: '',
    })
    const without = await program('ssh', [...options(), `${NAME}.devctl`, 'echo "[$SSH_AUTH_SOCK]"'], '', home, env)
    expect(without.out).toBe('[]\n')
    await expect.poll(() => inBox(`ls ${SHARED_PATH}`), { timeout: 60_000 }).toBe('')
  })

  test('ssh with another user key is refused', async () => {
    const stranger = createSshKeyPair('stranger')
    const file = join(home, 'stranger')
    writeFileSync(file, stranger.privateKey, { mode: 0o600 })
    const words = ['-o', `IdentityFile="${file}"`, '-o', 'BatchMode=yes', `${NAME}.devctl`, 'id']
    const config = readFileSync(sshConfigFile(home), 'utf8').replace(/^ {2}IdentityFile.*\n/m, '')
    writeFileSync(join(home, 'other-config'), config)
    expect(await program('ssh', ['-F', join(home, 'other-config'), ...words])).toMatchObject({
      status: 255,
      err: expect.stringMatching(/Permission denied \(publickey\)/),
    })
  })

  test('ssh refuses another host key', async () => {
    const other = createSshKeyPair('other')
    const file = join(home, 'other-hosts')
    writeFileSync(file, `${NAME}.devctl ${other.publicKey}\n`)
    expect(await ssh(['-o', `UserKnownHostsFile="${file}"`, `${NAME}.devctl`, 'id'])).toMatchObject({
      status: 255,
      err: expect.stringMatching(/Host key verification failed/),
    })
  })
})

const PUSH = ['push', '-q', '--receive-pack', '/tmp/git/bin/git-receive-pack', 'origin', 'HEAD:main']

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Returns what the server at a local port sends. */
const ask = (port: number): Promise<string> => text(connect(port, '127.0.0.1'))

/** Returns what the server at a port sends through a SOCKS 5 proxy. */
async function throughSocks(proxy: number, address: string, port: number): Promise<string> {
  const socket = connect(proxy, '127.0.0.1')
  socket.write(Buffer.from([5, 1, 0]))
  await once(socket, 'data')
  socket.write(Buffer.from([5, 1, 0, 1, ...address.split('.').map(Number), port >> 8, port & 255]))
  const said: Buffer[] = []
  for await (const part of socket) said.push(part)
  // The proxy's own answer has ten bytes.
  return Buffer.concat(said).subarray(10).toString()
}

async function serve(take: (socket: Socket) => unknown): Promise<number> {
  const server = createServer(socket => take(socket.on('error', () => {})))
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}
