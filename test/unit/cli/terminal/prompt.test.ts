import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { typeHidden, typeLine } from '../../../../cli/terminal/prompt.ts'

/** Types into the prompt; returns the answer, and all that was shown. */
async function typed(keys: string | undefined, prompt = typeHidden) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  let shown = ''
  output.on('data', chunk => (shown += chunk))
  const answer = prompt({ input, output }, 'Value of password')
  if (keys === undefined) input.end()
  else input.write(keys)
  return { answer: await answer, shown }
}

describe('typeLine', () => {
  test('typeLine returns the text and shows it', async () => {
    const { answer, shown } = await typed('shop\r', typeLine)
    expect(answer).toBe('shop')
    expect(shown).toContain('Value of password: ')
    expect(shown).toContain('shop')
  })

  test('typeLine allows corrections', async () => {
    expect((await typed('shap\u007f\u007fop\r', typeLine)).answer).toBe('shop')
  })

  test('typeLine returns nothing after Ctrl-C or the end of the input', async () => {
    expect((await typed('sh\u0003', typeLine)).answer).toBeUndefined()
    expect((await typed(undefined, typeLine)).answer).toBeUndefined()
  })
})

describe('typeHidden', () => {
  test('typeHidden returns the text and shows nothing of it', async () => {
    const { answer, shown } = await typed('hunter2 of the sea\r')
    expect(answer).toBe('hunter2 of the sea')
    expect(shown).toBe('Value of password (not shown): \n')
  })

  test('typeHidden allows corrections and an empty text', async () => {
    expect((await typed('huntr\u007fer2\r')).answer).toBe('hunter2')
    expect((await typed('\r')).answer).toBe('')
  })

  test('typeHidden returns nothing after Ctrl-C or the end of the input', async () => {
    expect((await typed('hun\u0003')).answer).toBeUndefined()
    expect((await typed(undefined)).answer).toBeUndefined()
  })
})
