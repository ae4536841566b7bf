/** Renders a link that opens the login in a new tab, so that unsaved input on this page is kept. */
export const LoginAgain = () => (
  <a class="link" href="/login" target="_blank" rel="noopener">
    Log in again<span class="hidden"> (in a new tab)</span>
  </a>
)
