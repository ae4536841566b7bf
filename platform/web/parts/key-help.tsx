import { Fragment } from 'preact'
import { Dialog } from './dialog.tsx'
import { isHelpOpen } from './palette.tsx'

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['/'], 'Search for namespaces, pages and actions'],
  [['Ctrl', 'K'], 'The same, also while you type'],
  [['?'], 'Show these keys'],
  [['Tab'], 'Go to the next link, field or button'],
  [['Enter'], 'Open what has the focus, or send the form'],
  [['Esc'], 'Close a dialog, and go back to where you were'],
  [['↑', '↓'], 'Go from line to line in a log, and through what the search found'],
]

/** The keys that work on every page. */
export const KeyHelp = () => (
  <Dialog
    title="Keyboard"
    onClose={() => {
      isHelpOpen.value = false
    }}
  >
    <dl class="facts keys">
      {KEYS.map(([keys, does]) => (
        <Fragment key={does}>
          <dt>
            {keys.map(key => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </Fragment>
      ))}
    </dl>
  </Dialog>
)
