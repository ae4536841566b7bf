import type { Recipe } from '../recipe.ts'

/** Recipe of CONTRIBUTING.md, "Messages": a file that declares and reports a diagnostic, and its golden case. */
export const diagnostic: Recipe = {
  added: {
    'golden/compose/workloads/more-than-a-thousand-pods-are-reported/compose.yaml': `services:
  web:
    image: nginx
    scale: 1001
`,
  },
  edits: [
    [
      'compiler/compose/read/scale.ts',
      'import type { MapTree }',
      "import { diagnostic } from '../../diagnostics/diagnostic.ts'\n",
    ],
    [
      'compiler/compose/read/scale.ts',
      '/** Reads `scale` or',
      `const tooMany = diagnostic({
  code: 'scale/many',
  severity: 'warning',
  explain: 'The service has more than a thousand replicas. A cluster seldom has so many Pods.',
  text: ({ count }: { count: number }) => ({
    message: \`\\\`scale\\\` is \${count}\`,
    hint: 'write a smaller number',
  }),
})

`,
    ],
    [
      'compiler/compose/read/scale.ts',
      "  if (scale) return checkCount(scale, 'scale', reporter)\n",
      '  if (scale && scale.value > 1000) reporter.report(tooMany, scale.span, { count: scale.value })\n',
    ],
  ],
}
