import { api } from '../../data/session.js';
import { showMoment } from '../../data/time.js';
import { Button } from '../../parts/button.js';
import { Panel } from '../../parts/page-head.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { Badge, Skeleton } from '../../parts/states.js';
import { toast } from '../../parts/toasts.js';
import { useAction, useLoaded } from '../../parts/use-action.js';
import { meText } from '../../text/me.js';
import { browserName } from './browser-name.js';
import styles from './me.module.css';

type Browser = {
  readonly id: string;
  readonly created: string | null;
  readonly last_used: string;
  readonly user_agent: string;
  readonly current: boolean;
};

const timesText = ({ created, last_used }: Browser): string => {
  const used = showMoment(Date.parse(last_used));
  if (created === null) return meText('lastUsed', { used });
  return meText('browserTimes', { created: showMoment(Date.parse(created)), used });
};

/** Where the user is signed in, and signing out there. */
export const Browsers = () => {
  const browsers = useLoaded((signal) => api<Browser[]>('GET', '/api/me/sessions', { signal }));
  const end = useAction(async (id: string) => {
    await api('DELETE', `/api/me/sessions/${id}`);
    toast({ text: meText('browserEnded') });
    browsers.reload();
  });
  return (
    <Panel title={meText('browsers')}>
      {browsers.problem === null ? null : (
        <ProblemBox what={meText('readBrowsers')} problem={browsers.problem} onRetry={browsers.reload} />
      )}
      {end.problem === null ? null : <ProblemBox what={meText('endBrowser')} problem={end.problem} />}
      {browsers.value === null && browsers.problem === null ? <Skeleton bars={2} /> : null}
      <ul class={styles.browsers}>
        {(browsers.value ?? []).map((browser) => (
          <li key={browser.id} class={styles.row}>
            <div class={styles.browser}>
              <strong>{browserName(browser.user_agent) || meText('unknownBrowser')}</strong>
              <p class={styles.hint}>{timesText(browser)}</p>
            </div>
            {browser.current ? (
              <Badge icon="ok" tone="ok">
                {meText('thisBrowser')}
              </Badge>
            ) : (
              <Button icon="signOut" isDisabled={end.isBusy} onClick={() => void end.run(browser.id)}>
                {meText('endBrowser')}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
};
