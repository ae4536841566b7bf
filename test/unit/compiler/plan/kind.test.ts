import { describe, expect, test } from 'vitest'
import type { Service } from '../../../../compiler/compose/project.ts'
import { Reporter } from '../../../../compiler/diagnostics/reporter.ts'
import { planProject } from '../../../../compiler/plan/index.ts'
import { memoryHost, planOf } from '../../../support/plan/compose.ts'
import { at, dependency, project, service, span } from '../../../support/plan/project.ts'

function plan(services: readonly Service[]) {
  const reporter = new Reporter()
  const { workloads } = planProject(project(services), { name: 'app', namespace: 'shop' }, memoryHost({}), reporter)
  return { workloads, codes: reporter.diagnostics().map(({ code }) => code) }
}

const anonymous = { type: 'volume', target: at('/data'), readOnly: false, nocopy: false, labels: [], span } as const
const noDeploy = service('x').deploy

describe('kind of a workload', () => {
  test.each<[string, Partial<Service>, string]>([
    ['nothing said', {}, 'Deployment'],
    ['restart: always', { restart: { policy: at('always') } }, 'Deployment'],
    ['an anonymous volume', { mounts: [anonymous] }, 'StatefulSet'],
    ['a memory volume', { mounts: [{ type: 'tmpfs', target: at('/t'), readOnly: false, span }] }, 'Deployment'],
    ['restart: no', { restart: { policy: at('no') } }, 'Job'],
    ['restart: on-failure', { restart: { policy: at('on-failure') } }, 'Job'],
    ['restart: no with a volume', { restart: { policy: at('no') }, mounts: [anonymous] }, 'Job'],
    ['max_attempts alone', { restart: { maxAttempts: at(3) } }, 'Deployment'],
    ['mode: global', { deploy: { ...noDeploy, mode: at('global') } }, 'DaemonSet'],
    [
      'mode: global before restart',
      { deploy: { ...noDeploy, mode: at('global') }, restart: { policy: at('no') } },
      'DaemonSet',
    ],
  ])('the first match decides the kind: %s', (_, fields, kind) => {
    expect(plan([service('x', fields)]).workloads.map(one => one.kind)).toEqual([kind])
  })
})

describe('Jobs', () => {
  test.each<[string, Service['restart'], boolean, string, number]>([
    ['no', { policy: at('no') }, false, 'Never', 0],
    ['on-failure:3', { policy: at('on-failure'), maxAttempts: at(3) }, false, 'OnFailure', 3],
    ['on-failure', { policy: at('on-failure') }, false, 'OnFailure', 2147483647],
    ['on-failure, awaited', { policy: at('on-failure') }, true, 'OnFailure', 6],
    ['on-failure:3, awaited', { policy: at('on-failure'), maxAttempts: at(3) }, true, 'OnFailure', 3],
    ['no policy, awaited', {}, true, 'Never', 0],
  ])('the restart policy and limit of a Job follow from: %s', (_, restart, isAwaited, restartPolicy, backoffLimit) => {
    const web = service('web', { dependsOn: isAwaited ? [dependency('task', 'service_completed_successfully')] : [] })
    const { workloads } = plan([service('task', { restart }), web])
    expect(workloads[0]).toMatchObject({ kind: 'Job', name: 'task', restartPolicy, backoffLimit })
  })

  test('a service without a policy is a Job only if its completion is awaited, with an info', () => {
    const text = (condition: string) => `
services:
  web: {image: w, depends_on: {task: {condition: ${condition}}}}
  task: {image: t}
`
    expect(planOf(text('service_started')).workload('task').kind).toBe('Deployment')
    const { workload, diagnostics } = planOf(text('service_completed_successfully'))
    expect(workload('task').kind).toBe('Job')
    expect(diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual(['info kind/job-by-wait'])
  })

  test('waiting for the completion of a service with `always` is an error', () => {
    const { codes, workload } = planOf(`
services:
  web: {image: w, depends_on: {task: {condition: service_completed_successfully}}}
  task: {image: t, restart: always}
`)
    expect(workload('task').kind).toBe('Deployment')
    expect(codes).toEqual(['depends-on/not-a-job'])
  })

  test.each([
    ['ports', 'ports: ["8080:80"]'],
    ['expose', 'expose: ["80"]'],
    ['a healthcheck', 'healthcheck: {test: "true"}'],
  ])('a service with %s is a server', (_, field) => {
    const { codes } = planOf(`
services:
  api: {image: a, restart: on-failure, ${field}}
  web: {image: w, depends_on: {api: {condition: service_healthy}}}
`)
    expect(codes).toEqual(['kind/server-as-job'])
  })

  test.each([
    ['restart: on-failure', 'restart: on-failure', 'restart: always'],
    ['deploy: {restart_policy: {condition: on-failure}}', 'condition: on-failure', 'condition: any'],
    ['restart: "no"', 'restart: no', 'restart: always'],
  ])('`%s` of a server is reported once, at its key', (written, policy, always) => {
    const { diagnostics } = planOf(`
services:
  db:
    image: d
    ${written}
    ports: ["80"]
    healthcheck: {test: "true"}
  web: {image: w, environment: {DB_HOST: db}}
`)
    const [found, ...others] = diagnostics.filter(({ code }) => code.startsWith('kind/'))
    expect(others).toEqual([])
    expect(found).toMatchObject({
      code: 'kind/server-as-job',
      severity: 'warning',
      message: `\`db\` has ports, but \`${policy}\` makes it a Job`,
      hint: `for a server, write \`${always}\``,
    })
    const { file, start } = found!.span!
    expect(file.position(start).line).toBe(5)
  })

  test('a service that others name as a host is a server, unless they wait for its completion', () => {
    const codes = (more: string) =>
      planOf(`
services:
  db: {image: d, restart: on-failure}
  web: {image: w, environment: {DB_HOST: db}${more}}
`).codes.filter(code => code.startsWith('kind/'))
    expect(codes('')).toEqual(['kind/server-as-job'])
    expect(codes(', depends_on: {db: {condition: service_completed_successfully}}')).toEqual([])
  })

  test('a service that others depend on without waiting for its completion looks like a server', () => {
    const { diagnostics } = planOf(`
services:
  cache: {image: c, restart: on-failure}
  web: {image: w, depends_on: [cache]}
`)
    expect(diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'kind/server-as-job `cache` has dependants, but `restart: on-failure` makes it a Job',
    ])
  })

  test('an info says that any other service with `on-failure` must end', () => {
    const { diagnostics } = planOf('services: {worker: {image: w, restart: on-failure}}')
    expect(diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual(['info kind/on-failure-job'])
  })

  test('scale is the number of completions', () => {
    expect(planOf('services: {t: {image: t, restart: "no", scale: 3}}').workload('t')).toMatchObject({ completions: 3 })
    expect(planOf('services: {t: {image: t, restart: "no", scale: 1}}').workload('t')).not.toHaveProperty('completions')
  })
})

test('replicas are written only if set', () => {
  expect(planOf('services: {w: {image: w}}').workload('w')).not.toHaveProperty('replicas')
  expect(planOf('services: {w: {image: w, scale: 0}}').workload('w').replicas).toBe(0)
  expect(planOf('services: {w: {image: w, deploy: {replicas: 3}}}').workload('w').replicas).toBe(3)
})

test('a global service has no replicas and always restarts', () => {
  const { codes, workload } = planOf('services: {a: {image: a, restart: "no", scale: 2, deploy: {mode: global}}}')
  expect(workload('a').kind).toBe('DaemonSet')
  expect(workload('a')).not.toHaveProperty('replicas')
  expect(codes.toSorted()).toEqual(['kind/replicas-of-global', 'restart/ignored'])
})
