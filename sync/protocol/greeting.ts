import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Version of the frames and their fields. The agent is part of the same program, so only one version exists. */
export const SYNC_PROTOCOL = 1

export const newNonce = (): string => randomBytes(24).toString('base64')

/**
 * Returns the proof that one side has the key of the session: an HMAC over its role and both nonces. Because of the
 * role, neither side's proof can be replayed as the proof of the other.
 */
export function proof(key: Uint8Array, role: 'laptop' | 'agent', agentNonce: string, laptopNonce: string): string {
  return createHmac('sha256', key).update(`devctl sync ${role}\n${agentNonce}\n${laptopNonce}`).digest('base64')
}

export function isProof(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
