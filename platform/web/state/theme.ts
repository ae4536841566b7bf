import { signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const stored = document.documentElement.dataset['theme']
/** Theme that the user has chosen on this device. */
export const theme = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : 'system')

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen
  if (chosen === 'system') {
    delete document.documentElement.dataset['theme']
    localStorage.removeItem('theme')
  } else {
    document.documentElement.dataset['theme'] = chosen
    localStorage.setItem('theme', chosen)
  }
}
