import { useState } from 'preact/hooks';
import { api } from '../../data/session.js';
import { showAgo } from '../../data/time.js';
import type { Webhook, WebhookTest } from '../../data/types.js';
import { Button } from '../../parts/button.js';
import { confirm } from '../../parts/confirm.js';
import { Menu } from '../../parts/menu.js';
import { PageBody } from '../../parts/page-head.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { Badge, EmptyState, Skeleton } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import { toast } from '../../parts/toasts.js';
import { useAction, useLoaded } from '../../parts/use-action.js';
import { webhooksText } from '../../text/webhooks.js';
import type { PageProps } from '../table.js';
import { Broker } from './broker.js';
import { SecretOnce, type ShownSecret, type ShownTest, Tested } from './dialogs.js';
import { EditWebhook, typeText } from './edit-webhook.js';
import styles from './webhooks.module.css';

type Open =
  | { readonly kind: 'edit'; readonly webhook: Webhook | null }
  | { readonly kind: 'secret'; readonly shown: ShownSecret }
  | { readonly kind: 'test'; readonly shown: ShownTest };

const addressOf = ({ id }: Webhook): string => `/api/webhooks/${id}`;

const removeWebhook = async (webhook: Webhook): Promise<boolean> => {
  const { name } = webhook;
  const isWanted = await confirm({
    title: webhooksText('removeTitle', { name }),
    text: webhooksText('removeWarning'),
    action: webhooksText('removeAction'),
    isDangerous: true,
  });
  if (!isWanted) return false;
  await api('DELETE', addressOf(webhook));
  toast({ text: webhooksText('removed', { name }) });
  return true;
};

const renewSecret = async (webhook: Webhook): Promise<ShownSecret | null> => {
  const { name } = webhook;
  const isWanted = await confirm({
    title: webhooksText('renewTitle', { name }),
    text: webhooksText('renewWarning'),
    action: webhooksText('renewAction'),
  });
  if (!isWanted) return null;
  const { secret } = await api<{ secret: string }>('POST', `${addressOf(webhook)}/secret`);
  return { name, secret };
};

const State = ({ webhook }: { readonly webhook: Webhook }) => {
  const { enabled, failures, last, waiting, dropped } = webhook;
  if (!enabled) return <Badge tone="plain">{webhooksText('off')}</Badge>;
  return (
    <>
      {failures > 0 ? (
        <Badge tone="warn" icon="warning">
          {webhooksText('failing', { count: failures, detail: last?.detail ?? '' })}
        </Badge>
      ) : (
        <Badge tone={last === null ? 'plain' : 'ok'}>{webhooksText(last === null ? 'fresh' : 'good')}</Badge>
      )}
      <p class={styles.quiet}>
        {[
          ...(last === null ? [] : [webhooksText('last', { ago: showAgo(Date.parse(last.at)) })]),
          ...(waiting > 0 ? [webhooksText('waiting', { count: waiting })] : []),
          ...(dropped > 0 ? [webhooksText('dropped', { count: dropped })] : []),
        ].join(' · ')}
      </p>
    </>
  );
};

const toldOf = ({ types, camera_ids, labels }: Webhook): string => {
  const all = [...types.map(typeText), ...camera_ids, ...labels];
  return all.length === 0 ? webhooksText('toldAll') : all.join(', ');
};

const WebhookRow = ({
  webhook,
  onOpen,
  onChanged,
}: {
  readonly webhook: Webhook;
  readonly onOpen: (open: Open) => void;
  readonly onChanged: () => void;
}) => {
  const { name } = webhook;
  const act = useAction(async (what: 'test' | 'renew' | 'remove') => {
    if (what === 'test') {
      const test = await api<WebhookTest>('POST', `${addressOf(webhook)}/test`);
      onOpen({ kind: 'test', shown: { name, test } });
    } else if (what === 'renew') {
      const shown = await renewSecret(webhook);
      if (shown !== null) onOpen({ kind: 'secret', shown });
    } else if (!(await removeWebhook(webhook))) return;
    onChanged();
  });
  return (
    <tr>
      <td>
        {name}
        <p class={`${styles.quiet} ${styles.where}`}>{webhook.url}</p>
        {act.problem === null ? null : <ProblemBox what={name} problem={act.problem} />}
      </td>
      <td>{toldOf(webhook)}</td>
      <td>
        <State webhook={webhook} />
      </td>
      <td>
        <Menu
          icon="more"
          kind="quiet"
          label={webhooksText('actions', { name })}
          items={[
            { label: webhooksText('test'), icon: 'play', onSelect: () => void act.run('test') },
            { label: webhooksText('edit'), icon: 'edit', onSelect: () => onOpen({ kind: 'edit', webhook }) },
            { label: webhooksText('renew'), icon: 'key', onSelect: () => void act.run('renew') },
            {
              label: webhooksText('remove'),
              icon: 'remove',
              isDangerous: true,
              onSelect: () => void act.run('remove'),
            },
          ]}
        />
      </td>
    </tr>
  );
};

/** Programs of others that are told of events. */
export const page = (_props: PageProps) => {
  const webhooks = useLoaded((signal) => api<Webhook[]>('GET', '/api/webhooks', { signal }));
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  return (
    <PageBody
      title={webhooksText('title')}
      isNarrow
      actions={
        <Button icon="plus" kind="primary" onClick={() => setOpen({ kind: 'edit', webhook: null })}>
          {webhooksText('add')}
        </Button>
      }
    >
      <p>{webhooksText('about')}</p>
      {webhooks.problem === null ? null : (
        <ProblemBox what={webhooksText('failed')} problem={webhooks.problem} onRetry={webhooks.reload} />
      )}
      {webhooks.value === null ? (
        webhooks.problem === null && <Skeleton />
      ) : webhooks.value.length === 0 ? (
        <EmptyState icon="share" text={webhooksText('none')} />
      ) : (
        <Table
          caption={webhooksText('list')}
          head={[webhooksText('name'), webhooksText('told'), webhooksText('state'), '']}
        >
          {webhooks.value.map((webhook) => (
            <WebhookRow key={webhook.id} webhook={webhook} onOpen={setOpen} onChanged={webhooks.reload} />
          ))}
        </Table>
      )}
      <Broker />
      {open?.kind === 'edit' ? (
        <EditWebhook
          webhook={open.webhook}
          onClose={close}
          onDone={(saved) => {
            webhooks.reload();
            if ('secret' in saved) setOpen({ kind: 'secret', shown: saved });
            else {
              toast({ text: webhooksText('saved', { name: saved.name }) });
              close();
            }
          }}
        />
      ) : null}
      {open?.kind === 'secret' ? <SecretOnce shown={open.shown} onClose={close} /> : null}
      {open?.kind === 'test' ? <Tested shown={open.shown} onClose={close} /> : null}
    </PageBody>
  );
};
