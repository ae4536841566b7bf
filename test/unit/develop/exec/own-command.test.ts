import { expect, test } from 'vitest'
import { type ContainerCommand, ownCommand } from '../../../../develop/exec/own-command.ts'

const image = { Entrypoint: ['entry'], Cmd: ['cmd', '-x'] }

// The rows follow https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/#notes
test.each<[ContainerCommand, Parameters<typeof ownCommand>[1], readonly string[] | undefined]>([
  [{}, image, ['entry', 'cmd', '-x']],
  [{ command: ['run'] }, image, ['run']],
  [{ args: ['-y'] }, image, ['entry', '-y']],
  [{ command: ['run'], args: ['-y'] }, image, ['run', '-y']],
  [{}, { Cmd: ['cmd'] }, ['cmd']],
  [{}, { Entrypoint: null, Cmd: null }, undefined],
  [{ command: [], args: [] }, image, ['entry', 'cmd', '-x']],
  // A command that the container sets is known without the image.
  [{ command: ['run'], args: ['-y'] }, undefined, ['run', '-y']],
  [{ args: ['-y'] }, undefined, undefined],
  [{}, undefined, undefined],
])('%j in an image with %j runs %j', (container, config, expected) => {
  expect(ownCommand(container, config)).toEqual(expected)
})

// References are expanded like https://pkg.go.dev/k8s.io/kubernetes/third_party/forked/golang/expansion#Expand does.
test.each([
  [
    ['sh', '-c', 'echo $HOME $$(date) $$$$'],
    ['sh', '-c', 'echo $HOME $(date) $$'],
  ],
  [['echo', '$(NAME)'], undefined],
  [['echo', '$$$(NAME)'], undefined],
  // A word that a deploy has put into a Secret stays a reference.
  [
    ['serve', '$(DEVCTL_COMMAND_2)'],
    ['serve', '$(DEVCTL_COMMAND_2)'],
  ],
])('the words %j of a container expand to %j', (words, expected) => {
  expect(ownCommand({ command: words }, undefined)).toEqual(expected)
  expect(ownCommand({ args: words }, { Entrypoint: ['$(entry)'] })).toEqual(expected && ['$(entry)', ...expected])
})
