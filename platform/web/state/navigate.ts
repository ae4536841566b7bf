/** Opens a page of the UI by clicking on a link, because the router listens for clicks. */
export function navigate(address: string): void {
  const link = document.createElement('a')
  link.href = address
  document.body.append(link)
  link.click()
  link.remove()
}
