import type { Recipe } from '../recipe.ts'

/** Recipe of CONTRIBUTING.md, "JSON from outside": a notice that a server sends. */
export const schema: Recipe = {
  added: {
    'project/contexts/notice.schema.ts': `import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

/** A notice of a server for the people who use it. */
export const notice = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
} as const satisfies JSONSchema

export type Notice = FromSchema<typeof notice>
`,
    'project/contexts/read-notice.ts': `import { type JsonResult, parseJson } from '../../adapters/json/parse-json.ts'
import type { Notice } from './notice.schema.ts'
import { notice } from './notice.validators.ts'

/** Reads a notice, or says what is wrong with it. */
export const readNotice = (text: string): JsonResult<Notice> => parseJson(text, notice)
`,
    'test/unit/project/contexts/read-notice.test.ts': `import { expect, test } from 'vitest'
import { readNotice } from '../../../../project/contexts/read-notice.ts'

test.each(['<html>', 'null', '[]', '{"text":'])('%s is no notice', text => {
  expect(readNotice(text)).toMatchObject({ ok: false })
})

test('a notice is read', () => {
  expect(readNotice('{"text":"closed on Friday"}')).toMatchObject({ ok: true, value: { text: 'closed on Friday' } })
})
`,
  },
}
