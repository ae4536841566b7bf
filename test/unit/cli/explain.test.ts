import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { run } from '../../support/run.ts'
import { expectFile } from '../../support/written-file.ts'

/** Questions by file of golden/cli/explain and example. The files contain the answers. */
const transcripts: Readonly<Record<string, { readonly example: string; readonly lines: readonly string[] }>> = {
  'shop-lines': {
    example: 'shop',
    lines: [
      'services.web.ports[0]',
      'services.db.volumes[0]',
      'services.api.healthcheck',
      'services.migrate.restart',
      'compose.yaml:14',
      'compose.yaml:20:7',
      'compose.yaml:2',
      'volumes.data',
      'services.web',
    ],
  },
  'shop-objects': {
    example: 'shop',
    lines: [
      'deployment/web spec.template.spec.containers[0].image',
      'deployment/web containers[web].ports[tcp-80].containerPort',
      'statefulset/db spec.template.spec.terminationGracePeriodSeconds',
      'statefulset/db kind',
      'deployment/api containers[api].readinessProbe',
      'job/migrate /spec/backoffLimit',
      'svc/web',
      'pvc/data spec',
    ],
  },
  'shop-mistakes': {
    example: 'shop',
    lines: [
      'services.wep',
      'services.web.prots',
      'services.web.hostname',
      'compose.yaml:3',
      'deployment/wep',
      'deployment/db',
      'deployment/web spec.replica',
      'deployment/web containers[wep]',
      'nothing.yaml:3',
      'services.web.image spec',
    ],
  },
}

describe('explain', () => {
  test.each(Object.entries(transcripts))(
    'prints the transcript %s',
    { timeout: 60_000 },
    async (name, { example, lines }) => {
      let text = ''
      for (const line of lines) {
        const { stdout, stderr } = await explain(example, line)
        text += `$ devctl explain ${line.replace(/\S*\[\S*/g, "'$&'")}\n${stdout}${stderr}\n`
      }
      await expectFile(text, join(root, 'golden/cli/explain', `${name}.txt`))
    },
  )

  test('prints the same as JSON', async () => {
    const { stdout } = await explain('shop', 'services.web.image -o json')
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'lines',
      nodes: [
        {
          path: 'services.web.image',
          line: { file: 'compose.yaml', line: 6 },
          becomes: [{ object: 'deployment/web', fields: [{ path: 'spec.template.spec.containers[web].image' }] }],
        },
      ],
    })
  })

  test('explains a diagnostic code, and lists those of a family, as without a project', async () => {
    expect((await explain('shop', 'interpolation/required')).stdout).toContain('interpolation/required')
    expect((await explain('shop', 'services')).stdout).toContain('services/unknown-key')
  })
})

const explain = (example: string, line: string) =>
  run(['explain', ...line.split(' ')], { cwd: join(root, 'examples', example) })
