import { FrameStream } from '../../../sync/protocol/frame-stream.ts'
import { FRAME_LIMITS, type Frame, type FrameType } from '../../../sync/protocol/frames.ts'
import { newNonce, proof, SYNC_PROTOCOL } from '../../../sync/protocol/greeting.ts'
import { Pair } from '../../support/sync/pair.ts'
import { KEY, type TwoSides } from '../../support/sync/two-sides.ts'

/** Answers requests as no agent of ours would; undefined: the request gets no answer. */
export type Answers = (
  frame: Frame,
  send: (type: FrameType, header: object, body?: readonly Uint8Array[]) => void,
) => void

/** Connects the laptop to an agent that has the key of the session, and means harm. It has these entries. */
export function connectFakeAgent(sides: TwoSides, entries: readonly unknown[], answers: Answers): void {
  sides.pair?.cut()
  const pair = new Pair(sides.clock)
  sides.pair = pair
  const nonce = newNonce()
  const stream: FrameStream = new FrameStream({
    stream: pair.other,
    clock: sides.clock,
    ended: () => {},
    received: frame => {
      if (frame.type === 'auth') {
        stream.limits = FRAME_LIMITS
        const mine = proof(KEY, 'agent', nonce, String(frame.header['nonce']))
        stream.send('welcome', { proof: mine, volume: 'volume-of-somebody', instance: 'i', clock: sides.clock.now() })
      } else if (frame.type === 'start') {
        stream.send('snapshot', { folder: '0', entries, unreadable: [] })
        stream.send('started', { resumed: false, own: {}, instance: 'i' })
      } else answers(frame, (type, header, body) => stream.send(type, { id: frame.header['id'], ...header }, body))
    },
  })
  stream.send('hello', { protocol: SYNC_PROTOCOL, nonce })
  sides.attached = sides.engine.attach(pair.one, KEY)
}
