import { useSignal } from '@preact/signals'
import { Button } from './button.tsx'
import { DeployForm } from './deploy-form.tsx'

/** Renders a button that opens the form to deploy a repository from the cluster. */
export function DeployButton({ namespace }: { readonly namespace?: string }) {
  const isOpen = useSignal(false)
  return (
    <>
      <Button
        look="solid"
        icon="branch"
        onClick={() => {
          isOpen.value = true
        }}
      >
        Deploy from Git
      </Button>
      {isOpen.value && (
        <DeployForm
          from={namespace === undefined ? {} : { namespace }}
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
    </>
  )
}
