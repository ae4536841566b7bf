import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type RunInput, toArguments, toContexts } from './arguments.ts'
import { writeAuthorities } from './authorities.ts'
import { type CloneInput, clone } from './clone.ts'
import { awaitClone, reportFailure, reportRun, reportSuccess } from './handover.ts'
import { reachable } from './reachable.ts'

// The program in the Pod of a run. One container clones, the other one deploys or destroys.

const INPUT = '/run/devctl/input/input.json'
const CLUSTER_CA = '/run/devctl/kubernetes/ca.crt'
/** Path of the file with the certificate authorities of `devctl platform install --ca`; the file may be missing. */
const CA = '/run/devctl/ca/ca.crt'
const GIT_CONFIGURATION = '/run/devctl/ca/gitconfig'
/**
 * Subfolder of the volume into which the repository is cloned. The top folder of the volume belongs to the user `root`,
 * and git refuses folders of other users.
 */
const SOURCE = '/source/repository'
const HOME = '/tmp/devctl'
/** Path of the file in which a container leaves its termination message. */
const LAST_WORDS = '/dev/termination-log'
/** Timeouts in milliseconds: for cloning, and for the start of the clone container. */
const CLONE_LIMIT = 600_000
const START_LIMIT = 60_000
/**
 * Timeout for reaching the platform, in milliseconds. After the timeout, devctl is started nevertheless, because it can
 * report the unreachable platform itself.
 */
const REACH_LIMIT = 10_000

async function cloneSource(): Promise<number> {
  const input = JSON.parse(readFileSync(INPUT, 'utf8')) as CloneInput // the platform has written it
  mkdirSync(SOURCE)
  process.stdout.write(`cloning ${input.repository}${input.branch === undefined ? '' : ` (${input.branch})`}\n`)
  const signal = AbortSignal.timeout(CLONE_LIMIT)
  const calling = reportRun(signal)
  // The connection is awaited below; this prevents an unhandled rejection until then.
  calling.catch(() => {})
  try {
    const authorities = writeAuthorities(CA, '/tmp/authorities.pem')
    const commit = await clone(input, {
      folder: SOURCE,
      env: process.env,
      signal,
      ...(authorities !== undefined && { settings: { 'http.sslCAInfo': authorities } }),
      ...(existsSync(GIT_CONFIGURATION) && { configuration: GIT_CONFIGURATION }),
    })
    process.stdout.write(`commit ${commit}\n`)
    writeFileSync(LAST_WORDS, JSON.stringify({ commit }))
    await reportSuccess(await calling)
    return 0
  } catch (error) {
    const text = failureText(error, signal)
    process.stdout.write(`error: ${text}\n`)
    writeFileSync(LAST_WORDS, JSON.stringify({ error: text }))
    await reportFailure(calling, START_LIMIT)
    return 1
  }
}

function failureText(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return `it took longer than ${CLONE_LIMIT / 60_000} minutes`
  return error instanceof Error ? error.message : String(error)
}

/** Runs devctl in this process, so the values of variables are on no command line. */
async function runDevctl(): Promise<void> {
  const input = JSON.parse(readFileSync(INPUT, 'utf8')) as RunInput // the platform has written it
  mkdirSync(HOME, { recursive: true, mode: 0o700 })
  const contexts = toContexts(input, readFileSync(CLUSTER_CA, 'utf8'))
  writeFileSync(join(HOME, 'contexts.json'), JSON.stringify(contexts), { mode: 0o600 })
  process.env['DEVCTL_HOME'] = HOME
  const authorities = writeAuthorities(CA, join(HOME, 'authorities.pem'))
  // For the programs that a run starts; Node.js has read its own variable already.
  if (authorities !== undefined) Object.assign(process.env, { GIT_SSL_CAINFO: authorities, SSL_CERT_FILE: authorities })
  const isCloned = input.isCloned ? awaitClone(AbortSignal.timeout(START_LIMIT + CLONE_LIMIT)) : Promise.resolve(true)
  const isReached = reachable(input.url, AbortSignal.timeout(REACH_LIMIT))
  // Loads devctl in the meantime.
  const { load } = createRequire('/devctl/bin/devctl.cjs')('/devctl/bin/devctl.cjs') as {
    load(name: string): { start(words: readonly string[]): Promise<void> }
  } // bin/devctl.cjs
  const { start } = load('devctl.cjs')
  // The clone container has already reported the error.
  if (!(await isCloned)) process.exit(1)
  await isReached
  // Files are missing without a repository, so `destroy` uses what the cluster has recorded.
  if (input.isCloned) process.chdir(SOURCE)
  process.removeListener('SIGTERM', endAtOnce)
  await start(toArguments(input))
}

/** Ends the process. It is PID 1 of its container, so the kernel ignores signals without a handler. */
const endAtOnce = () => process.exit(143)
process.once('SIGTERM', endAtOnce)
if (process.argv[2] === 'clone') void cloneSource().then(status => process.exit(status))
else void runDevctl()
