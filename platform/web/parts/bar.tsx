/** How much something is beside the most, as a length; the number itself stands beside it. */
export const Bar = ({ share }: { readonly share: number }) => (
  <span class="meter" aria-hidden="true">
    <span class="meter-fill" style={{ width: `${Math.round(Math.min(1, Math.max(0, share)) * 100)}%` }} />
  </span>
)
