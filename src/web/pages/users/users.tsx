import { useState } from 'preact/hooks';
import { api, may, me, refreshMe } from '../../data/session.js';
import { showDate, showMoment } from '../../data/time.js';
import { Button } from '../../parts/button.js';
import { confirm } from '../../parts/confirm.js';
import { Menu } from '../../parts/menu.js';
import { PageBody } from '../../parts/page-head.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { Badge, Skeleton } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import { toast } from '../../parts/toasts.js';
import { useAction, useLoaded } from '../../parts/use-action.js';
import { roleText } from '../../text/me.js';
import { usersText } from '../../text/users.js';
import type { PageProps } from '../table.js';
import { AddUser, ChangeRole, PasswordOnce, type ShownPassword, type User } from './dialogs.js';
import { type LastSignIns, loadLastSignIns } from './last-sign-ins.js';
import { makePassword } from './make-password.js';
import { folderPath } from './sight-choice.js';
import styles from './users.module.css';

type Open =
  | { readonly kind: 'add' }
  | { readonly kind: 'role'; readonly user: User }
  | { readonly kind: 'password'; readonly shown: ShownPassword };

const tones = { viewer: 'plain', operator: 'ok', admin: 'accent', service: 'plain' } as const;
const icons = { viewer: 'play', operator: 'cctv', admin: 'key', service: 'cpu' } as const;

const addressOf = ({ username }: User): string => `/api/users/${encodeURIComponent(username)}`;

const resetPassword = async (user: User, show: (shown: ShownPassword) => void): Promise<void> => {
  const { username } = user;
  const isWanted = await confirm({
    title: usersText('resetTitle', { name: username }),
    text: usersText('resetWarning', { name: username }),
    action: usersText('resetAction'),
  });
  if (!isWanted) return;
  const password = makePassword();
  await api('PUT', addressOf(user), { body: { password } });
  show({ username, password });
};

const removeUser = async (user: User): Promise<boolean> => {
  const { username: name } = user;
  const isWanted = await confirm({
    title: usersText('removeTitle', { name }),
    text: usersText('removeWarning', { name }),
    action: usersText('removeAction'),
    isDangerous: true,
  });
  if (!isWanted) return false;
  await api('DELETE', addressOf(user));
  toast({ text: usersText('removed', { name }) });
  return true;
};

const LastSignIn = ({
  username,
  known,
}: {
  readonly username: string;
  readonly known: LastSignIns | null;
}) => {
  if (known === null) return null;
  const found = known.byUser.get(username);
  if (found !== undefined)
    return (
      <>
        {showMoment(found.timeMs)} <span class={styles.quiet}>{found.ip}</span>
      </>
    );
  const { sinceMs } = known;
  return (
    <span class={styles.quiet}>
      {sinceMs === null ? usersText('notOfLate') : usersText('notSince', { date: showDate(sinceMs) })}
    </span>
  );
};

const UserRow = ({
  user,
  signIns,
  onOpen,
  onChanged,
}: {
  readonly user: User;
  readonly signIns: LastSignIns | null;
  readonly onOpen: (open: Open) => void;
  readonly onChanged: () => void;
}) => {
  const { username, role } = user;
  const act = useAction(async (what: 'reset' | 'remove') => {
    if (what === 'reset') await resetPassword(user, (shown) => onOpen({ kind: 'password', shown }));
    else if (await removeUser(user)) onChanged();
  });
  const isMe = username === me.value?.username;
  return (
    <tr>
      <td>
        {username} {isMe ? <span class={styles.you}>({usersText('you')})</span> : null}
        {act.problem === null ? null : <ProblemBox what={username} problem={act.problem} />}
      </td>
      <td>
        <Badge tone={tones[role]} icon={icons[role]} title={roleText(`${role}Hint`)}>
          {roleText(role)}
        </Badge>
      </td>
      <td>{user.folders === undefined ? usersText('seesAll') : user.folders.map(folderPath).join(', ')}</td>
      <td>
        <LastSignIn username={username} known={signIns} />
      </td>
      <td>
        <Menu
          icon="more"
          kind="quiet"
          label={usersText('actions', { name: username })}
          items={[
            { label: usersText('changeRole'), icon: 'users', onSelect: () => onOpen({ kind: 'role', user }) },
            // One's own is changed under Me, where nobody is signed out by it.
            ...(isMe
              ? []
              : [
                  { label: usersText('reset'), icon: 'key', onSelect: () => void act.run('reset') } as const,
                  {
                    label: usersText('remove'),
                    icon: 'remove',
                    isDangerous: true,
                    onSelect: () => void act.run('remove'),
                  } as const,
                ]),
          ]}
        />
      </td>
    </tr>
  );
};

/** Who may use the service. */
export const page = (_props: PageProps) => {
  const users = useLoaded((signal) => api<User[]>('GET', '/api/users', { signal }));
  const signIns = useLoaded(async (signal) => (may('audit.read') ? await loadLastSignIns(signal) : null));
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const onChanged = (): void => {
    close();
    users.reload();
  };
  return (
    <PageBody
      title={usersText('title')}
      isNarrow
      actions={
        <Button icon="plus" kind="primary" onClick={() => setOpen({ kind: 'add' })}>
          {usersText('add')}
        </Button>
      }
    >
      {users.problem === null ? null : (
        <ProblemBox what={usersText('failed')} problem={users.problem} onRetry={users.reload} />
      )}
      {signIns.problem === null ? null : (
        <ProblemBox what={usersText('signInsFailed')} problem={signIns.problem} onRetry={signIns.reload} />
      )}
      {users.value === null ? (
        users.problem === null && <Skeleton />
      ) : (
        <Table
          caption={usersText('list')}
          head={[usersText('name'), usersText('role'), usersText('sees'), usersText('lastSignIn'), '']}
        >
          {users.value.map((user) => (
            <UserRow key={user.username} {...{ user, signIns: signIns.value, onChanged }} onOpen={setOpen} />
          ))}
        </Table>
      )}
      {open?.kind === 'add' ? (
        <AddUser
          onClose={close}
          onDone={(shown) => {
            users.reload();
            setOpen({ kind: 'password', shown });
          }}
        />
      ) : null}
      {open?.kind === 'role' ? (
        <ChangeRole
          user={open.user}
          onClose={close}
          onDone={() => {
            onChanged();
            if (open.user.username === me.value?.username) void refreshMe().catch(() => {});
          }}
        />
      ) : null}
      {open?.kind === 'password' ? <PasswordOnce shown={open.shown} onClose={close} /> : null}
    </PageBody>
  );
};
