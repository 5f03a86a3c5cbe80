import { shellText } from '../text/shell.js';
import { Button } from './button.js';
import styles from './shown-once.module.css';
import { toast } from './toasts.js';

const copy = async (text: string, copied: string): Promise<void> => {
  await navigator.clipboard.writeText(text);
  toast({ text: copied });
};

/** A secret that nobody sees again: to be copied, or selected by one click. */
export const ShownOnce = ({
  secret,
  copied,
}: {
  readonly secret: string;
  /** What is said once it is. */
  readonly copied: string;
}) => (
  <div class={styles.secret}>
    <code>{secret}</code>
    {/* Plain http has no clipboard: one click selects all of it there. */}
    {isSecureContext ? (
      <Button icon="copy" onClick={() => void copy(secret, copied)}>
        {shellText('copy')}
      </Button>
    ) : null}
  </div>
);
