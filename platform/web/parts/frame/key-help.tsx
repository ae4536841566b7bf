import { Fragment } from 'preact'
import { Dialog } from '../forms/dialog.tsx'

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['/'], 'Search namespaces, services, runs, people and pages'],
  [['Ctrl', 'K'], 'Search, even while typing'],
  [['?'], 'Show these shortcuts'],
  [['Tab'], 'Go to the next link, field or button'],
  [['Enter'], 'Open the focused item, or submit the form'],
  [['Esc'], 'Close a dialog, and return to where you were'],
  [['↑', '↓'], 'Move through the lines of a log, or through search results'],
]

/** Shows the keyboard shortcuts that work on every page. */
export const KeyHelp = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose}>
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
