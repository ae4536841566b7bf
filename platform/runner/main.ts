import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type CloneInput, clone, trusting } from './clone.ts'
import { type RunInput, toContexts, toWords } from './words.ts'

// The program in the Pod of a run: first it clones, in a container of its own, then it deploys or destroys.

const INPUT = '/run/devctl/input/input.json'
const CLUSTER_CA = '/run/devctl/kubernetes/ca.crt'
/** What the operators of the cluster trust besides; it need not be there. */
const CA = '/run/devctl/ca/ca.crt'
const GIT_CONFIGURATION = '/run/devctl/ca/gitconfig'
/** Below the volume, whose top is root's: git works in folders of its own user only. */
const SOURCE = '/source/repository'
const HOME = '/tmp/devctl'
/** Where Kubernetes reads the last words of a container. */
const LAST_WORDS = '/dev/termination-log'
/** Milliseconds. */
const CLONE_LIMIT = 600_000

async function cloneSource(): Promise<number> {
  const input = JSON.parse(readFileSync(INPUT, 'utf8')) as CloneInput // the platform has written it
  mkdirSync(SOURCE)
  process.stdout.write(`cloning ${input.repository}${input.branch === undefined ? '' : ` (${input.branch})`}\n`)
  const signal = AbortSignal.timeout(CLONE_LIMIT)
  try {
    const commit = await clone(input, {
      folder: SOURCE,
      env: process.env,
      signal,
      settings: trusting(CA),
      ...(existsSync(GIT_CONFIGURATION) && { configuration: GIT_CONFIGURATION }),
    })
    process.stdout.write(`commit ${commit}\n`)
    writeFileSync(LAST_WORDS, JSON.stringify({ commit }))
    return 0
  } catch (error) {
    const text = failureText(error, signal)
    process.stdout.write(`error: ${text}\n`)
    writeFileSync(LAST_WORDS, JSON.stringify({ error: text }))
    return 1
  }
}

function failureText(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return `it took longer than ${CLONE_LIMIT / 60_000} minutes`
  return error instanceof Error ? error.message : String(error)
}

/** Runs devctl in this process, so that values of variables are on no command line. */
async function runDevctl(): Promise<void> {
  const input = JSON.parse(readFileSync(INPUT, 'utf8')) as RunInput // the platform has written it
  mkdirSync(HOME, { recursive: true, mode: 0o700 })
  const contexts = toContexts(input, readFileSync(CLUSTER_CA, 'utf8'))
  writeFileSync(join(HOME, 'contexts.json'), JSON.stringify(contexts), { mode: 0o600 })
  process.env['DEVCTL_HOME'] = HOME
  // Without a repository there are no files: what is destroyed is what the cluster knows.
  if (existsSync(SOURCE)) process.chdir(SOURCE)
  const { load } = createRequire('/devctl/bin/devctl.cjs')('/devctl/bin/devctl.cjs') as {
    load(name: string): { start(words: readonly string[]): Promise<void> }
  } // bin/devctl.cjs
  await load('devctl.cjs').start(toWords(input))
}

if (process.argv[2] === 'clone') void cloneSource().then(status => process.exit(status))
else void runDevctl()
