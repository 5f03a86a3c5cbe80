import type { WebhookTest } from '../../data/types.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { ShownOnce } from '../../parts/shown-once.js';
import { shellText } from '../../text/shell.js';
import { webhooksText } from '../../text/webhooks.js';
import styles from './webhooks.module.css';

const Done = ({ onClose }: { readonly onClose: () => void }) => (
  <Button kind="primary" onClick={onClose}>
    {shellText('done')}
  </Button>
);

export type ShownSecret = { readonly name: string; readonly secret: string };

export const SecretOnce = ({
  shown,
  onClose,
}: {
  readonly shown: ShownSecret;
  readonly onClose: () => void;
}) => (
  <Dialog
    title={webhooksText('secretOf', { name: shown.name })}
    onClose={onClose}
    footer={<Done onClose={onClose} />}
  >
    <ShownOnce secret={shown.secret} copied={webhooksText('secretCopied')} />
    <p>{webhooksText('secretOnce')}</p>
  </Dialog>
);

export type ShownTest = { readonly name: string; readonly test: WebhookTest };

/** What became of a message that was sent to try it. */
export const Tested = ({ shown, onClose }: { readonly shown: ShownTest; readonly onClose: () => void }) => {
  const { ok, detail, answer, duration_ms: ms } = shown.test;
  return (
    <Dialog
      title={webhooksText('testTitle', { name: shown.name })}
      onClose={onClose}
      footer={<Done onClose={onClose} />}
    >
      <p role="status">{webhooksText(ok ? 'testGood' : 'testBad', { detail, ms })}</p>
      {answer === '' ? null : (
        <>
          <p>{webhooksText('testAnswer')}</p>
          <pre class={styles.answer}>{answer}</pre>
        </>
      )}
    </Dialog>
  );
};
