import { command } from '../../command.ts'
import { flag } from '../../options/option.ts'
import { output } from '../../options/output.ts'

export const analytics = command({
  name: 'analytics',
  group: 'Platform',
  summary: 'Show whether commands are counted for the platform, or change it',
  description: `On a platform, devctl counts the commands that are run: name, version, system, duration and outcome, without arguments and without a person. The counts go to that platform, whose administrators see them, and to nobody else; docs/analytics.md lists every field. Without a platform nothing is counted. $DO_NOT_TRACK disables it, too.`,
  options: {
    disable: flag('--disable', 'stop counting, and delete what has not been sent yet'),
    enable: flag('--enable', 'count again'),
    output: output('text', 'json'),
  },
  async run(context, _words, options) {
    const { runAnalytics } = await import('../../run/analytics.ts')
    return runAnalytics(context, options)
  },
})
