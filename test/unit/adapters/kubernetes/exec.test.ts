import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openExec } from '../../../../adapters/kubernetes/exec.ts'
import { accessTo, SUCCESS, startExecServer } from '../../../support/exec-server.ts'

const target = { pod: 'p', namespace: 'n', container: 'c', command: ['cat'], stdin: true }

describe('the exec protocol', () => {
  test.each([
    ['v4.channel.k8s.io', ['0in']],
    ['v5.channel.k8s.io', ['0in', '255,0']],
  ])('a client of %s sends the end of the input as the protocol allows', async (protocol, expected) => {
    const sent: string[] = []
    const access = await startExecServer(protocol, socket =>
      socket.on('message', (data: Buffer) => {
        sent.push(data[0] === 255 ? [...data].join() : `${data[0]}${data.subarray(1)}`)
        setTimeout(() => socket.send(SUCCESS), 50)
      }),
    )
    const process = await openExec(access, target)
    process.stdin.end('in')
    expect(await process.exit).toBe(0)
    expect(sent).toEqual(expected)
  })

  test('a connection that ends without a status is an error of the output and of the exit', async () => {
    const access = await startExecServer('v5.channel.k8s.io', socket => {
      socket.send(Buffer.from('\x01part'))
      socket.close()
    })
    const process = await openExec(access, target)
    await expect(text(process.stdout)).rejects.toMatchObject({ failure: 'unreachable' })
    await expect(process.exit).rejects.toMatchObject({ failure: 'unreachable' })
  })

  test('a status that cannot be read is an error', async () => {
    const access = await startExecServer('v5.channel.k8s.io', socket => socket.send(Buffer.from('\x03<html>')))
    const process = await openExec(access, target)
    await expect(process.exit).rejects.toMatchObject({
      failure: 'unavailable',
      message: 'pod/p: the command ended without a status',
    })
  })

  test.each([
    ['executable file not found in $PATH', 'not-found', 127, 'does not exist'],
    ['permission denied', 'invalid', 126, 'is not executable'],
  ])('a program that cannot be started (%s) has the exit status of a shell', async (reason, failure, ...expected) => {
    const [exitStatus, says] = expected
    const message = `failed to start exec: OCI runtime exec failed: exec: "cat": ${reason}: unknown`
    const status = JSON.stringify({ status: 'Failure', message, reason: 'InternalError', code: 500 })
    const access = await startExecServer('v5.channel.k8s.io', socket => socket.send(Buffer.from(`\x03${status}`)))
    const { exit } = await openExec(access, target)
    const error = { failure, exitStatus, message: `\`cat\` ${says} in container \`c\` of pod/p` }
    await expect(exit).rejects.toMatchObject(error)
  })

  test('the error names a proxy that opens no WebSocket', async () => {
    const server = createServer((_, response) => response.end('<html>'))
    server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    await expect(openExec(accessTo((server.address() as AddressInfo).port), target)).rejects.toMatchObject({
      failure: 'unreachable',
      message: expect.stringMatching(/answered 200 and opened no WebSocket: a proxy before it may not support them$/),
    })
  })
})
