import type { Recipe } from '../recipe.ts'

/** Recipe of CONTRIBUTING.md, "Web pages": a page that shows the version of the platform, in five files. */
export const page: Recipe = {
  added: {
    'platform/web/pages/about.tsx': `import { Loading } from '../parts/frame/loading.tsx'
import { Page, Section } from '../parts/frame/page.tsx'
import { useResource } from '../state/resource.ts'

/** Shows the version of the platform, and the oldest command line that works with it. */
export function About() {
  const info = useResource('GET /info', {})
  return (
    <Page title="About">
      <Loading of={info}>
        {({ version, minCli }) => (
          <Section title={\`devctl \${version}\`}>
            <p>Works with command lines from {minCli}.</p>
          </Section>
        )}
      </Loading>
    </Page>
  )
}
`,
  },
  edits: [
    ['platform/api/pages.ts', "  you: '/you',\n", "  about: '/about',\n"],
    [
      'platform/web/app.tsx',
      'const RunPage = laterPage(',
      "const About = laterPage(async () => (await import('./pages/about.tsx')).About)\n",
    ],
    [
      'platform/web/app.tsx',
      '      <Route path={PAGES.you} ',
      '      <Route path={PAGES.about} component={About} />\n',
    ],
    [
      'platform/web/parts/frame/navigation.ts',
      "  { href: addressOf('you'), ",
      "  { href: addressOf('about'), text: 'About', also: 'version', icon: 'info' },\n",
    ],
    [
      'test/api/browser/pages.test.ts',
      "  you: { who: 'ann', ",
      "  about: { who: 'bob', path: () => '/about', shows: () => 'Works with command lines' },\n",
    ],
  ],
}
