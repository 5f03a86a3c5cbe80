import { useState } from 'preact/hooks';
import { serviceNowMs } from '../../data/service-clock.js';
import { api } from '../../data/session.js';
import { showAgo, showDate } from '../../data/time.js';
import type { ApiKey, MadeApiKey } from '../../data/types.js';
import { Button } from '../../parts/button.js';
import { confirm } from '../../parts/confirm.js';
import { PageBody } from '../../parts/page-head.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { Badge, EmptyState, Skeleton } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import { toast } from '../../parts/toasts.js';
import { useAction, useLoaded } from '../../parts/use-action.js';
import { keysText } from '../../text/api-keys.js';
import { roleText } from '../../text/me.js';
import { usersText } from '../../text/users.js';
import type { PageProps } from '../table.js';
import { folderPath } from '../users/sight-choice.js';
import { KeyOnce, NewKey } from './new-key.js';

const removeKey = async ({ id, name }: ApiKey): Promise<boolean> => {
  const isWanted = await confirm({
    title: keysText('removeTitle', { name }),
    text: keysText('removeWarning'),
    action: keysText('removeAction'),
    isDangerous: true,
  });
  if (!isWanted) return false;
  await api('DELETE', `/api/keys/${id}`);
  toast({ text: keysText('removed', { name }) });
  return true;
};

const seenBy = ({ folders = [], cameras = [] }: ApiKey): string =>
  folders.length + cameras.length === 0
    ? usersText('seesAll')
    : [...folders.map(folderPath), ...cameras].join(', ');

const Expiry = ({ expires }: Pick<ApiKey, 'expires'>) => {
  const endMs = expires === null ? Number.POSITIVE_INFINITY : Date.parse(expires);
  if (endMs <= serviceNowMs())
    return (
      <Badge tone="warn" icon="clock">
        {keysText('over', { date: showDate(endMs) })}
      </Badge>
    );
  return <span>{expires === null ? keysText('never') : showDate(endMs)}</span>;
};

const KeyRow = ({ made, onChanged }: { readonly made: ApiKey; readonly onChanged: () => void }) => {
  const { name, role, created, expires, last_used } = made;
  const remove = useAction(async () => {
    if (await removeKey(made)) onChanged();
  });
  return (
    <tr>
      <td title={keysText('made', { date: showDate(Date.parse(created)) })}>
        {name}
        {remove.problem === null ? null : <ProblemBox what={name} problem={remove.problem} />}
      </td>
      <td>{roleText(role)}</td>
      <td>{seenBy(made)}</td>
      <td>
        <Expiry expires={expires} />
      </td>
      <td>{last_used === null ? keysText('notUsed') : showAgo(Date.parse(last_used))}</td>
      <td>
        <Button
          icon="remove"
          kind="quiet"
          label={keysText('remove', { name })}
          isDisabled={remove.isBusy}
          onClick={() => void remove.run()}
        />
      </td>
    </tr>
  );
};

/** Keys of programs, which use the service without a password. */
export const page = (_props: PageProps) => {
  const keys = useLoaded((signal) => api<ApiKey[]>('GET', '/api/keys', { signal }));
  const [isAdding, setIsAdding] = useState(false);
  const [shown, setShown] = useState<MadeApiKey | null>(null);
  return (
    <PageBody
      title={keysText('title')}
      isNarrow
      actions={
        <Button icon="plus" kind="primary" onClick={() => setIsAdding(true)}>
          {keysText('add')}
        </Button>
      }
    >
      <p>{keysText('about')}</p>
      {keys.problem === null ? null : (
        <ProblemBox what={keysText('failed')} problem={keys.problem} onRetry={keys.reload} />
      )}
      {keys.value === null ? (
        keys.problem === null && <Skeleton />
      ) : keys.value.length === 0 ? (
        <EmptyState icon="key" text={keysText('none')} />
      ) : (
        <Table
          caption={keysText('list')}
          head={[
            ...[keysText('name'), keysText('role'), usersText('sees'), keysText('expires')],
            ...[keysText('lastUsed'), ''],
          ]}
        >
          {keys.value.map((made) => (
            <KeyRow key={made.id} made={made} onChanged={keys.reload} />
          ))}
        </Table>
      )}
      {isAdding ? (
        <NewKey
          onClose={() => setIsAdding(false)}
          onDone={(made) => {
            setIsAdding(false);
            keys.reload();
            setShown(made);
          }}
        />
      ) : null}
      {shown === null ? null : <KeyOnce made={shown} onClose={() => setShown(null)} />}
    </PageBody>
  );
};
