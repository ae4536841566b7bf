/** Change a word, save, and load the page again. */
export const page = visits => `<!doctype html>
<title>Visits</title>
<p>This page was loaded ${visits} times.</p>
`
