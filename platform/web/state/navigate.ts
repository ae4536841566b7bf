/** Opens a page of the UI, as a click on a link does: the router listens to clicks. */
export function navigate(address: string): void {
  const link = document.createElement('a')
  link.href = address
  document.body.append(link)
  link.click()
  link.remove()
}
