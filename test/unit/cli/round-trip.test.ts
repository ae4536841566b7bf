import { describe, expect, test } from 'vitest'
import { expectRoundTrip, printedCases } from '../../support/cli/config-round-trip.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { partOf } from '../../support/part-of-cases.ts'
import { run } from '../../support/run.ts'

const { cases, title } = partOf(printedCases(), 4)

// Each case is tried in one of the formats; `npm run test:long` tries all cases in both.
describe(`the output of \`config\`: ${title}`, () => {
  test.each(cases)('the output for %s can be read again', (_name, one, index) =>
    expectRoundTrip(one, [index % 8 < 4 ? 'yaml' : 'json']),
  )
})

test('values that follow from other keys cause no warning when they are read again', async () => {
  const files = [
    'services: {a: {image: x, links: ["c:d"]}, c: {image: x}}',
    'services: {a: {image: x}, b: {image: x, network_mode: "service:a"}}',
    'services: {a: {image: x, depends_on: {b: {condition: service_started, required: false}}}, b: {image: x, profiles: [y]}}',
  ]
  for (const text of files) {
    const direct = await run(['config'], { cwd: makeFolder({ 'compose.yaml': `name: shop\n${text}\n` }) })
    const again = await run(['validate', '--strict'], { cwd: makeFolder({ 'compose.yaml': direct.stdout }) })
    expect(again, text).toMatchObject({ status: 0 })
    expect(again.stdout + again.stderr).not.toMatch(/depends-on|optional/)
  }
})
