import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { publishing } from '../../support/git/publishing.ts'
import { few } from '../../support/takes-all.ts'

const COMPOSE = readFileSync(join(root, 'examples/jobs/compose.yaml'), 'utf8')

describe.each(few(['plain', 'kustomize', 'single-file']))('the jobs of examples/jobs, as %s', layout => {
  test('publish writes their CronJobs, and a second publish changes nothing', async () => {
    const app = await publishing({ compose: COMPOSE, environment: `    layout: ${layout}\n` })
    const first = await app.publish()
    expect(first.status, first.stderr).toBe(0)
    const files = await app.tree()
    const jobs = Object.values(files)
      .flatMap(text => text.split(/^---$/m))
      .filter(text => text.includes('kind: CronJob'))
      .map(text => text.replaceAll(/^ {4,}.*\n/gm, ''))
    expect(jobs).toHaveLength(2)
    expect(jobs.join('')).toContain('  schedule: 30 3 * * *\n  timeZone: Europe/Berlin\n')
    expect(jobs.join('')).toContain('  suspend: true\n')
    expect(await app.publish()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^unchanged/) })
    expect(await app.tree()).toEqual(files)
  })
})
