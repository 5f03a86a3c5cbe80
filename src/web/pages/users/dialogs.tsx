import { useState } from 'preact/hooks';
import { api } from '../../data/session.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { ShownOnce } from '../../parts/shown-once.js';
import { toast } from '../../parts/toasts.js';
import { useAction } from '../../parts/use-action.js';
import { shellText } from '../../text/shell.js';
import { usersText } from '../../text/users.js';
import { makePassword } from './make-password.js';
import { RoleChoice, type RoleName } from './role-choice.js';
import { isChosen, type Sight, SightChoice } from './sight-choice.js';

export type User = {
  readonly username: string;
  readonly role: RoleName;
  readonly folders?: readonly string[];
};
/** A password that nobody sees again. */
export type ShownPassword = { readonly username: string; readonly password: string };

/** What is sent of what is seen: an admin sees everything. */
const foldersOf = (role: RoleName, sight: Sight): readonly string[] | null =>
  role === 'admin' ? null : (sight?.folders ?? null);

const isReady = (role: RoleName, sight: Sight): boolean => role === 'admin' || isChosen(sight);

/** Saving what is as it was would sign them out for nothing. */
const isSame = (user: User, role: RoleName, sight: Sight): boolean =>
  role === user.role &&
  JSON.stringify([...(foldersOf(role, sight) ?? [])].sort()) ===
    JSON.stringify([...(user.folders ?? [])].sort());

const RoleAndSight = ({
  role,
  sight,
  onRole,
  onSight,
}: {
  readonly role: RoleName;
  readonly sight: Sight;
  readonly onRole: (role: RoleName) => void;
  readonly onSight: (sight: Sight) => void;
}) => (
  <>
    <RoleChoice value={role} onChange={onRole} />
    {role === 'admin' ? <p>{usersText('adminSeesAll')}</p> : <SightChoice value={sight} onChange={onSight} />}
  </>
);

const Buttons = ({ action, isBusy, onClose }: { action: string; isBusy: boolean; onClose: () => void }) => (
  <>
    <Button onClick={onClose}>{shellText('cancel')}</Button>
    <Button type="submit" kind="primary" isDisabled={isBusy}>
      {action}
    </Button>
  </>
);

export const AddUser = ({
  onClose,
  onDone,
}: {
  readonly onClose: () => void;
  readonly onDone: (made: ShownPassword) => void;
}) => {
  const [username, setUsername] = useState('');
  const [role, setRole] = useState<RoleName>('viewer');
  const [sight, setSight] = useState<Sight>(null);
  const add = useAction(async () => {
    const password = makePassword();
    await api('POST', '/api/users', { body: { username, role, password, folders: foldersOf(role, sight) } });
    onDone({ username, password });
  });
  return (
    <Dialog
      title={usersText('addTitle')}
      onClose={onClose}
      onSubmit={() => void add.run()}
      footer={
        <Buttons action={usersText('add')} isBusy={add.isBusy || !isReady(role, sight)} onClose={onClose} />
      }
    >
      <Field label={usersText('name')} hint={usersText('nameHint')}>
        {(given) => (
          <input
            {...given}
            name="username"
            value={username}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            required
            onInput={(event) => setUsername(event.currentTarget.value)}
          />
        )}
      </Field>
      <RoleAndSight {...{ role, sight }} onRole={setRole} onSight={setSight} />
      {add.problem === null ? null : <ProblemBox what={usersText('add')} problem={add.problem} />}
    </Dialog>
  );
};

export const ChangeRole = ({
  user,
  onClose,
  onDone,
}: {
  readonly user: User;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) => {
  const [role, setRole] = useState(user.role);
  const [sight, setSight] = useState<Sight>(
    user.folders === undefined ? null : { folders: user.folders, cameras: [] },
  );
  const change = useAction(async () => {
    const body = { role, folders: foldersOf(role, sight) };
    await api('PUT', `/api/users/${encodeURIComponent(user.username)}`, { body });
    toast({ text: usersText('roleChanged', { name: user.username }) });
    onDone();
  });
  return (
    <Dialog
      title={usersText('roleTitle', { name: user.username })}
      onClose={onClose}
      onSubmit={() => void (isSame(user, role, sight) ? onClose() : change.run())}
      footer={
        <Buttons
          action={shellText('save')}
          isBusy={change.isBusy || !isReady(role, sight)}
          onClose={onClose}
        />
      }
    >
      <RoleAndSight {...{ role, sight }} onRole={setRole} onSight={setSight} />
      <p>{usersText('roleEnds', { name: user.username })}</p>
      {change.problem === null ? null : (
        <ProblemBox what={usersText('changeRole')} problem={change.problem} />
      )}
    </Dialog>
  );
};

export const PasswordOnce = ({
  shown,
  onClose,
}: {
  readonly shown: ShownPassword;
  readonly onClose: () => void;
}) => (
  <Dialog
    title={usersText('passwordOf', { name: shown.username })}
    onClose={onClose}
    footer={
      <Button kind="primary" onClick={onClose}>
        {usersText('done')}
      </Button>
    }
  >
    <ShownOnce secret={shown.password} copied={usersText('copied')} />
    <p>{usersText('passwordOnce', { name: shown.username })}</p>
  </Dialog>
);
