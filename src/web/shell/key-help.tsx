import { hasLetterKeys, offeredShortcuts } from '../data/keys.js';
import { Dialog } from '../parts/dialog.js';
import { shellText } from '../text/shell.js';
import styles from './key-help.module.css';

const signs: Readonly<Record<string, string>> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Escape: 'Esc',
};

const signOf = (key: string): string =>
  key
    .split('+')
    .map((part) => signs[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(' + ') || '+';

/** What can be pressed on the page that is shown. */
export const KeyHelp = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title={shellText('keys')} onClose={onClose}>
    {hasLetterKeys.value ? null : <p>{shellText('lettersOff')}</p>}
    {offeredShortcuts.value.map(({ title, shortcuts }) => (
      <section key={title} class={styles.group}>
        <h3>{title}</h3>
        <dl class={styles.list}>
          {shortcuts.map(({ keys, does }) => (
            <div key={does} class={styles.line}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key} class={styles.key}>
                    {signOf(key)}
                  </kbd>
                ))}
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
      </section>
    ))}
  </Dialog>
);
