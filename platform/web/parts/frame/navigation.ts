import { addressOf } from '../../../api/pages.ts'
import type { IconName } from '../icon.tsx'

/** A page that the user can open from every other page: the search finds it, and the sidebar may have a link to it. */
export interface NavigationPage {
  readonly href: string
  readonly text: string
  /** Further words by which the search finds the page. */
  readonly also: string
  /** Icon of the link in the sidebar. Absent for a page without such a link, such as a tab of another page. */
  readonly icon?: IconName
  /** Text of the link in the sidebar, if it differs from `text`. */
  readonly short?: string
}

/** Pages of all users that need no parameters, in the order of the search and of the sidebar. */
export const NAVIGATION: readonly NavigationPage[] = [
  { href: addressOf('home'), text: 'Home', also: 'namespaces start', icon: 'home' },
  { href: addressOf('previews'), text: 'Previews', also: 'branches pull requests', icon: 'branch' },
  { href: addressOf('webhooks'), text: 'Webhooks', also: 'previews forks approve pull requests repository' },
  { href: addressOf('you'), text: 'Your account', also: 'profile appearance sessions kubectl' },
  { href: addressOf('tokens'), text: 'Tokens', also: 'api ci programs' },
  {
    href: addressOf('yourVariables'),
    text: 'Your variables and Git credentials',
    also: 'secrets environment forge login',
  },
]

/** Pages of administrators. */
export const ADMINISTRATION: readonly NavigationPage[] = [
  {
    href: addressOf('overview'),
    text: 'Platform overview',
    also: 'admin administration health builders queue disk',
    icon: 'server',
    short: 'Overview',
  },
  { href: addressOf('users'), text: 'People', also: 'users admin administration', icon: 'users' },
  {
    href: addressOf('everybodysVariables'),
    text: 'Variables for everyone',
    also: 'admin administration platform',
    icon: 'key',
    short: 'Variables',
  },
  { href: addressOf('analytics'), text: 'Analytics', also: 'admin administration commands usage', icon: 'chart' },
  {
    href: addressOf('platformSettings'),
    text: 'Platform settings',
    also: 'admin administration ci trust limits login',
    icon: 'gear',
    short: 'Settings',
  },
]
