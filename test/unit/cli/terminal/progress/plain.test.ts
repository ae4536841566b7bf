import { expect, test } from 'vitest'
import { plainProgress } from '../../../../../cli/terminal/progress/plain.ts'

test('a state with the same text as the one before is not printed again', () => {
  let written = ''
  const output = { isTTY: false, write: () => {} }
  const stderr = { isTTY: false, write: (text: string) => (written += text) }
  const io = { stdout: output, stderr, readStdin: async () => new Uint8Array(), cwd: '/', env: {} }
  const progress = plainProgress(io, () => 0, 'warn')
  const tell = (service: string, state: 'waiting' | 'ready', text: string) =>
    progress.tell({ type: 'status', service, state, text })
  tell('off', 'waiting', 'Deployment 0/0 ready')
  tell('web', 'waiting', 'Deployment 0/0 ready')
  tell('off', 'ready', 'Deployment 0/0 ready')
  tell('web', 'ready', 'Deployment 1/1 ready')
  tell('web', 'waiting', 'Deployment 0/0 ready')
  expect(written.match(/\S+: .*/g)).toEqual([
    'off: Deployment 0/0 ready',
    'web: Deployment 0/0 ready',
    'web: Deployment 1/1 ready',
    'web: Deployment 0/0 ready',
  ])
})
