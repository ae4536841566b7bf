/** Leads to the login in a tab of its own, so that what was typed on this page stays. */
export const LoginAgain = () => (
  <a class="link" href="/login" target="_blank" rel="noopener">
    Log in again<span class="hidden"> (in a new tab)</span>
  </a>
)
