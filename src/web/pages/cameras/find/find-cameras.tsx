import { useState } from 'preact/hooks';
import { Button } from '../../../parts/button.js';
import { Dialog } from '../../../parts/dialog.js';
import { Field } from '../../../parts/field.js';
import { ProblemBox } from '../../../parts/problem-box.js';
import { findText } from '../../../text/find-cameras.js';
import styles from './find.module.css';
import { FindDevice } from './find-device.js';
import { useFind } from './use-find.js';

type Find = ReturnType<typeof useFind>;

const Login = ({ find: { login, setLogin } }: { readonly find: Find }) => (
  <form class={styles.login} onSubmit={(event) => event.preventDefault()}>
    <Field label={findText('user')}>
      {(given) => (
        <input
          {...given}
          value={login.user}
          autocomplete="off"
          autocapitalize="none"
          onInput={(event) => setLogin({ ...login, user: event.currentTarget.value })}
        />
      )}
    </Field>
    <Field label={findText('password')}>
      {(given) => (
        <input
          {...given}
          type="password"
          autocomplete="off"
          value={login.password}
          onInput={(event) => setLogin({ ...login, password: event.currentTarget.value })}
        />
      )}
    </Field>
  </form>
);

const Typed = ({ find }: { readonly find: Find }) => {
  const [address, setAddress] = useState('');
  return (
    <form
      class={styles.typed}
      onSubmit={(event) => {
        event.preventDefault();
        find.type(address);
        setAddress('');
      }}
    >
      <Field label={findText('address')} hint={findText('addressHint')}>
        {(given) => (
          <input
            {...given}
            value={address}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            onInput={(event) => setAddress(event.currentTarget.value)}
          />
        )}
      </Field>
      <Button type="submit" icon="plus" isDisabled={address.trim() === ''}>
        {findText('addAddress')}
      </Button>
    </form>
  );
};

const Found = ({ find }: { readonly find: Find }) => {
  const { search, devices } = find;
  if (search.problem !== null)
    return <ProblemBox what={findText('failed')} problem={search.problem} onRetry={search.reload} />;
  const blind = search.value?.interfaces.filter(({ error }) => error !== '') ?? [];
  return (
    <>
      <p role="status" class={styles.status}>
        {search.value === null
          ? findText('searching')
          : devices.length === 0
            ? findText('none')
            : findText('found', { count: search.value.devices.length })}
      </p>
      {blind.map(({ name, error }) => (
        <p key={name} class={styles.bad}>
          {findText('blind', { name, error })}
        </p>
      ))}
      <ul class={styles.devices}>
        {devices.map((each) => (
          <FindDevice key={each.device.address} find={find} each={each} />
        ))}
      </ul>
    </>
  );
};

/** Who is on the network: pick, say as whom, see what each would be, add. */
export const FindCameras = ({
  folderId,
  onClose,
}: {
  readonly folderId: string;
  readonly onClose: () => void;
}) => {
  const find = useFind(folderId, onClose);
  const { search, wanted, chosen, save } = find;
  const isAsking = find.devices.some(({ probe }) => probe?.step === 'asking');
  return (
    <Dialog
      title={findText('title')}
      isWide
      onClose={onClose}
      footer={
        <>
          <Button icon="refresh" isDisabled={search.value === null} onClick={search.reload}>
            {findText('again')}
          </Button>
          <Button isDisabled={wanted.length === 0 || isAsking} onClick={() => void find.ask()}>
            {findText('ask', { count: wanted.length })}
          </Button>
          <Button
            kind="primary"
            isDisabled={chosen.length === 0 || isAsking || save.isBusy}
            onClick={() => void save.run()}
          >
            {findText('add', { count: chosen.length })}
          </Button>
        </>
      }
    >
      <Login find={find} />
      <Found find={find} />
      <Typed find={find} />
      {save.problem === null ? null : <ProblemBox what={findText('adding')} problem={save.problem} />}
    </Dialog>
  );
};
