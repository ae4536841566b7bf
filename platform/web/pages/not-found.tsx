import { ButtonLink } from '../parts/forms/button.tsx'
import { Page } from '../parts/frame/page.tsx'
import { Empty } from '../parts/problem.tsx'

/** Renders the page for an unknown URL. */
export const NotFound = () => (
  <Page title="Page not found">
    <Empty icon="search" title="Nothing at this address">
      <p class="soft">It may have been deleted, or the link is incomplete. Press / to search.</p>
      <p>
        <ButtonLink href="/" icon="home">
          Go to Home
        </ButtonLink>
      </p>
    </Empty>
  </Page>
)
