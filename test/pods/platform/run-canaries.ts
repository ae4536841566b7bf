import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { PLATFORM_NAMESPACE, RUNS_NAMESPACE, USERS_NAMESPACE } from '../../../platform/records/names.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { few } from '../../support/takes-all.ts'
import type { Installation, Repository } from './installation.ts'

// Two users have runs at the same time, whose code searches all of its Pod: it finds what belongs to its own run, and
// nothing else.

const NAMESPACES = [PLATFORM_NAMESPACE, USERS_NAMESPACE, RUNS_NAMESPACE]
/**
 * Script that prints all that a program finds in its Pod: variables, processes, mounts, and files that no image has.
 */
const LOOK = `{
  env
  cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/self/mountinfo
  find -L /run /tmp /source /etc /dev /var/run /home -type f -readable -size -256k -exec cat {} +
} 2>/dev/null | gzip | base64 -w 500 | sed 's/^/FOUND:/'
sleep 5
`
/** Manifest whose command asks for CANARY, and gets no other variable of its user. */
const MANIFEST = `variables: [CANARY]
deploy:
  commands:
    - name: Look
      command: sh look.sh
  compose: compose.yaml
`
const COMPOSE = `services: {web: {image: "redis:7-alpine", command: redis-server, restart: always}}
`

export const runCanaries = (installed: () => Installation, forge: string, forgeToken: string) =>
  describe('the code of a run', () => {
    const people = ['bob', 'eve'].map(name => ({
      login: `${name}-${RUN}`,
      own: `${name}-variable-${RUN}-0123456789-0123456789`,
      unnamed: `${name}-unnamed-${RUN}-0123456789-0123456789`,
      said: `${name}-option-${RUN}-0123456789-0123456789`,
    }))
    let repository: Repository

    beforeAll(async () => {
      const files = { 'look.sh': LOOK, 'devctl.yml': MANIFEST, 'compose.yaml': COMPOSE }
      repository = await installed().repository(`canaries-${RUN}`, files, true)
      for (const { login, own, unnamed } of people) {
        await installed().person(login)
        await installed().ok(login, `variables set --user CANARY=${own} UNNAMED=${unnamed}`)
        // Its password comes from the standard input.
        await installed().pipe(login, ['credentials', 'set', new URL(forge).host, '--user'], forgeToken)
      }
    })

    test('the code of a run finds its own values, and no secret of the platform or of another run', async () => {
      const line = `pipeline deploy --repository ${repository.html_url} --name canaries --wait`
      const runs = people.map(({ login, said }) => installed().start(login, `${line} --var SAID=${said}`))
      const secrets = new Map<string, readonly string[]>()
      let isOver = false
      const watching = (async () => {
        while (!isOver) {
          for (const [name, values] of await secretValues()) secrets.set(name, values)
          await new Promise(resolve => setTimeout(resolve, 1000))
        }
      })()
      const ended = Promise.all(runs.map(({ status }) => status)).finally(() => {
        isOver = true
      })
      const [states] = await Promise.all([ended, watching, refusedToMembers(people.map(({ login }) => login))])
      expect(states, runs.map(run => run.stderr + run.stdout.slice(-3000)).join('\n')).toEqual([0, 0])

      const values = [...secrets.values()].flat()
      expect(values.includes(forgeToken) && people.every(({ said }) => values.includes(said)), 'they are known').toBe(
        true,
      )
      expect(secrets.get('devctl-platform/keys'), 'the key that seals').toHaveLength(1)
      for (const [at, { own, said, unnamed }] of people.entries()) {
        const lines = [...`${runs[at]!.stdout}\n${runs[at]!.stderr}`.matchAll(/FOUND:([A-Za-z0-9+/=]+)/g)].map(
          ([, part]) => part,
        )
        const looked = gunzipSync(Buffer.from(lines.join(''), 'base64')).toString('latin1')
        expect(looked.includes(own) && looked.includes(said), 'it looks where something is').toBe(true)
        const ownValues = new Set([...secrets.values()].filter(values => values.includes(said)).flat())
        const foreign = [...secrets].flatMap(([name, values]) =>
          values.filter(value => !ownValues.has(value) && looked.includes(value)).map(() => name),
        )
        expect(foreign, 'Secrets with something that it has found').toEqual([])
        const other = people[1 - at]!
        const notAsked = [unnamed, other.own, other.said, other.unnamed]
        expect(notAsked.filter(value => looked.includes(value))).toEqual([])
        expect(looked, 'a token of Kubernetes that it did not ask the platform for').not.toContain(
          'kubernetes.io/serviceaccount',
        )
      }
    })

    /** Returns the texts in the Secrets of the platform that cannot be guessed, by `namespace/name`. */
    async function secretValues(): Promise<readonly (readonly [string, readonly string[]])[]> {
      const all = await Promise.all(
        NAMESPACES.map(namespace =>
          installed().cluster.get<{ items: readonly SecretObject[] }>(`/api/v1/namespaces/${namespace}/secrets`),
        ),
      )
      return all
        .flatMap(({ items }) => items)
        .map(({ metadata, data = {} }) => {
          const texts = Object.values(data).flatMap(value => leavesOf(Buffer.from(value, 'base64').toString('latin1')))
          return [`${metadata.namespace}/${metadata.name}`, texts.filter(isSecret)] as const
        })
    }

    /** Checks that only the platform can access the Pods of runs and the objects next to them. */
    async function refusedToMembers(logins: readonly string[]): Promise<void> {
      const pod = await eventually('a run has a Pod', async () => {
        const pods = await installed().cluster.get<{ items: readonly SecretObject[] }>(
          '/api/v1/namespaces/devctl-runs/pods',
        )
        return pods.items[0] && `pod/${pods.items[0].metadata.name}`
      })
      const { items } = await installed().cluster.get<{ items: readonly SecretObject[] }>(
        '/api/v1/namespaces/devctl-users/serviceaccounts',
      )
      for (const [at, login] of logins.entries()) {
        const account = items.find(({ metadata }) => Object.values(metadata.annotations ?? {}).includes(login))
        const as = [
          `--as=system:serviceaccount:devctl-users:${account!.metadata.name}`,
          ...['system:serviceaccounts', 'system:serviceaccounts:devctl-users', 'system:authenticated'].map(
            group => `--as-group=${group}`,
          ),
        ]
        const ways = [
          ['exec', pod, '--', 'true'],
          ['logs', pod],
          ['get', 'secrets'],
          ['attach', pod],
          ['debug', pod, '--image=busybox'],
          ['port-forward', pod, '8080'],
          ['get', 'pods'],
          ['get', 'jobs'],
          ['create', 'token', 'default'],
          ['delete', pod],
        ]
        // One rule refuses both users in the same ways.
        for (const words of at === 0 ? ways : few(ways, 3)) {
          const said = await installed()
            .cluster.kubectl('--namespace=devctl-runs', ...as, ...words)
            .then(
              () => 'it was not refused',
              (error: Error) => error.message,
            )
          expect(said, words.join(' ')).toMatch(/forbidden/i)
        }
      }
    }
  })

interface SecretObject {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly annotations?: Record<string, string>
  }
  readonly data?: Readonly<Record<string, string>>
}

/** Returns true for a text as long as tokens and keys are that is no address. */
const isSecret = (one: string): boolean => /^[\x20-\x7e]{32,}$/.test(one) && !one.includes('://')

/** Returns the texts in a JSON value, or the text itself. */
function leavesOf(value: string): readonly string[] {
  try {
    const found: string[] = []
    JSON.parse(value, (_, one) => {
      if (typeof one === 'string') found.push(one)
      return one
    })
    return found
  } catch {
    return [value.trim()]
  }
}
