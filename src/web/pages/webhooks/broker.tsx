import { api } from '../../data/session.js';
import { showAgo } from '../../data/time.js';
import type { Settings } from '../../data/types.js';
import { Button } from '../../parts/button.js';
import { Panel } from '../../parts/page-head.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { Badge } from '../../parts/states.js';
import { useLoaded } from '../../parts/use-action.js';
import { webhooksText } from '../../text/webhooks.js';
import styles from './webhooks.module.css';

type BrokerFacts = NonNullable<Settings['service']['mqtt']>;

const BrokerState = ({ broker }: { readonly broker: BrokerFacts }) => {
  const { connected_since: since, last_error: error, waiting, dropped } = broker;
  const facts = [
    ...(since === null ? [] : [webhooksText('brokerSince', { ago: showAgo(Date.parse(since)) })]),
    ...(waiting > 0 ? [webhooksText('waiting', { count: waiting })] : []),
    ...(dropped > 0 ? [webhooksText('dropped', { count: dropped })] : []),
  ];
  return (
    <>
      <p>
        {since === null ? (
          <Badge tone="warn" icon="warning">
            {error === '' ? webhooksText('brokerConnecting') : webhooksText('brokerLost', { reason: error })}
          </Badge>
        ) : (
          <Badge tone="ok" icon="ok">
            {webhooksText('brokerGood')}
          </Badge>
        )}
      </p>
      <p>{webhooksText('brokerWhere', { broker: broker.broker, prefix: broker.prefix })}</p>
      {facts.length === 0 ? null : <p class={styles.quiet}>{facts.join(' · ')}</p>}
    </>
  );
};

/** The broker that is told what happens: it is named where the service is started, so nothing of it is changed here. */
export const Broker = () => {
  const settings = useLoaded((signal) => api<Settings>('GET', '/api/settings', { signal }));
  const broker = settings.value?.service.mqtt ?? null;
  return (
    <Panel title={webhooksText('broker')}>
      {settings.problem === null ? null : (
        <ProblemBox
          what={webhooksText('brokerFailed')}
          problem={settings.problem}
          onRetry={settings.reload}
        />
      )}
      {settings.value === null ? null : broker === null ? (
        <p class={styles.quiet}>{webhooksText('brokerNone')}</p>
      ) : (
        <>
          <BrokerState broker={broker} />
          <p>
            <Button kind="quiet" icon="refresh" onClick={settings.reload}>
              {webhooksText('brokerAgain')}
            </Button>
          </p>
        </>
      )}
    </Panel>
  );
};
