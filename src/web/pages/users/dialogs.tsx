import { useState } from 'preact/hooks';
import { api } from '../../data/session.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { toast } from '../../parts/toasts.js';
import { useAction } from '../../parts/use-action.js';
import { shellText } from '../../text/shell.js';
import { usersText } from '../../text/users.js';
import { makePassword } from './make-password.js';
import { RoleChoice, type RoleName } from './role-choice.js';
import styles from './users.module.css';

export type User = { readonly username: string; readonly role: RoleName };
/** A password that nobody sees again. */
export type ShownPassword = { readonly username: string; readonly password: string };

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
  const add = useAction(async () => {
    const password = makePassword();
    await api('POST', '/api/users', { body: { username, role, password } });
    onDone({ username, password });
  });
  return (
    <Dialog
      title={usersText('addTitle')}
      onClose={onClose}
      onSubmit={() => void add.run()}
      footer={<Buttons action={usersText('add')} isBusy={add.isBusy} onClose={onClose} />}
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
      <RoleChoice value={role} onChange={setRole} />
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
  const change = useAction(async () => {
    await api('PUT', `/api/users/${encodeURIComponent(user.username)}`, { body: { role } });
    toast({ text: usersText('roleChanged', { name: user.username }) });
    onDone();
  });
  return (
    <Dialog
      title={usersText('roleTitle', { name: user.username })}
      onClose={onClose}
      onSubmit={() => void (role === user.role ? onClose() : change.run())}
      footer={<Buttons action={shellText('save')} isBusy={change.isBusy} onClose={onClose} />}
    >
      <RoleChoice value={role} onChange={setRole} />
      <p>{usersText('roleEnds', { name: user.username })}</p>
      {change.problem === null ? null : (
        <ProblemBox what={usersText('changeRole')} problem={change.problem} />
      )}
    </Dialog>
  );
};

const copy = async (text: string): Promise<void> => {
  await navigator.clipboard.writeText(text);
  toast({ text: usersText('copied') });
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
    <div class={styles.secret}>
      <code>{shown.password}</code>
      {/* Plain http has no clipboard: one click selects all of it there. */}
      {isSecureContext ? (
        <Button icon="copy" onClick={() => void copy(shown.password)}>
          {usersText('copy')}
        </Button>
      ) : null}
    </div>
    <p>{usersText('passwordOnce', { name: shown.username })}</p>
  </Dialog>
);
