import { api } from '../../data/session.js';
import type { Settings } from '../../data/types.js';
import { Button } from '../../parts/button.js';
import { Badge } from '../../parts/states.js';
import { useLoaded } from '../../parts/use-action.js';
import { setupText } from '../../text/setup.js';
import styles from './setup.module.css';

/** How this page was reached, and what that means; shown among the settings, too. */
export const ConnectionFacts = ({ settings }: { readonly settings: Settings | null }) => {
  const https = settings?.service.https ?? null;
  const own =
    https?.self_signed === true ? (
      <p class={styles.fingerprint}>{setupText('httpsSelf', { fingerprint: https.fingerprint_sha256 })}</p>
    ) : null;
  if (location.protocol === 'https:')
    return (
      <>
        <p>
          <Badge tone="ok" icon="lock">
            {setupText('httpsOk')}
          </Badge>
        </p>
        <p>{setupText('httpsOkText')}</p>
        {own}
      </>
    );
  return (
    <>
      <p>
        {isSecureContext ? (
          <Badge tone="accent" icon="system">
            {setupText('httpsLocal')}
          </Badge>
        ) : (
          <Badge tone="warn" icon="warning">
            {setupText('httpsPlain')}
          </Badge>
        )}
      </p>
      <p>{setupText(isSecureContext ? 'httpsLocalText' : 'httpsPlainText')}</p>
      <ul>
        {isSecureContext ? null : <li>{setupText('wayLocalhost')}</li>}
        <li>{setupText('wayCertificate')}</li>
        <li>{setupText('waySelfSigned')}</li>
        <li>{setupText('wayProxy')}</li>
      </ul>
    </>
  );
};

export const HttpsStep = ({ onDone }: { readonly onDone: () => void }) => {
  const settings = useLoaded((signal) => api<Settings>('GET', '/api/settings', { signal }));
  return (
    <>
      <ConnectionFacts settings={settings.value} />
      <p class={styles.buttons}>
        <Button kind="primary" onClick={onDone}>
          {setupText('next')}
        </Button>
      </p>
    </>
  );
};
